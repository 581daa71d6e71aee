// Cells of a table on a phone, where the table scrolls. A short cell with a number in it, "128 x 256" or "<3, 3, 3>", is not
// broken into lines; one with much text is not squeezed into a narrow column. An empty head is no head. A plugin of markdown-it; book.css has the
// classes.
const short = 21;  // "16384 x 16384 x 16384"
const long = 40;

function class_of(text) {
  if (/\d/.test(text) && text.trim().length <= short) return 'short';
  return text.length > long ? 'long' : null;
}

export function cells_plugin(md) {
  md.core.ruler.push('cells', ({ tokens }) => {
    for (const [i, { type, children }] of tokens.entries()) {
      const open = tokens[i - 1];
      if (type !== 'inline' || !['td_open', 'th_open'].includes(open?.type)) continue;
      if (open.type === 'th_open' && !children.length) open.tag = tokens[i + 1].tag = 'td';
      const name = class_of(children.filter((part) => ['text', 'code_inline'].includes(part.type)).map(({ content }) => content).join(''));
      if (name) open.attrJoin('class', name);
    }
  });
}
