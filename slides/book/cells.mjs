// A short cell of a table with a number in it, "128 x 256" or "<3, 3, 3>", is not broken into lines: on a phone the table
// scrolls. A plugin of markdown-it; book.css has the class.
const longest = 21;  // "16384 x 16384 x 16384"

export const is_short = (text) => /\d/.test(text) && text.trim().length <= longest;

export function cells_plugin(md) {
  md.core.ruler.push('cells', ({ tokens }) => {
    for (const [i, { type, children }] of tokens.entries()) {
      const open = tokens[i - 1];
      if (type !== 'inline' || !['td_open', 'th_open'].includes(open?.type)) continue;
      const text = children.filter((part) => ['text', 'code_inline'].includes(part.type)).map(({ content }) => content).join('');
      if (is_short(text)) open.attrJoin('class', 'short');
    }
  });
}
