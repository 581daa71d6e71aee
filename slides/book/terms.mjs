// The first use of a word of the glossary on a page leads to it, so that the texts need no links of their own for that. A
// plugin of markdown-it.
import { slug } from '../texts.mjs';

const glossary = 'chapters/glossary';
const escaped = (word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/ /g, '\\s+');

// The words of the glossary, its headings and what stands below them behind "Also:": [word, name of its heading].
export function words_of(text) {
  return [...text.matchAll(/^### (.+)\n(?:\nAlso: (.+)\n)?/gm)].flatMap(([, heading, also]) =>
    [heading, ...(also?.split(', ') ?? [])].map((word) => [word.replaceAll('`', ''), slug(heading)]));
}

// Finds the words in a text, long ones first: "shared memory bank" has no "memory". A plain word also begins a sentence, and
// has a plural.
function finder(words) {
  const forms = words.map(([word]) => word).sort((a, b) => b.length - a.length)
    .map((word) => (/^[a-z]/.test(word) ? `[${word[0]}${word[0].toUpperCase()}]${escaped(word.slice(1))}` : escaped(word)));
  return new RegExp(`(?<![\\w.-]|out of )(?:${forms.join('|')})(?:e?s)?(?![\\w-])`, 'g');
}

export function terms_plugin(md, { pages }) {
  const page = pages.find(({ url }) => url === glossary);
  if (!page) return;
  const words = words_of(page.text()), find = finder(words);
  const places = new Map(words.map(([word, place]) => [word.toLowerCase(), place]));
  const place_of = (found) => [found, found.replace(/s$/, ''), found.replace(/es$/, '')]
    .map((word) => places.get(word.replace(/\s+/g, ' ').toLowerCase())).find(Boolean);

  // The tokens of a piece of text, with links at words that were not used before.
  function linked(token, used, Token) {
    const made = [];
    let at = 0;
    const add = (type, tag, nesting, fields) => made.push(Object.assign(new Token(type, tag, nesting), { level: token.level }, fields));
    for (const { 0: found, index } of token.content.matchAll(find)) {
      const place = place_of(found);
      if (used.has(place)) continue;
      used.add(place);
      add('text', '', 0, { content: token.content.slice(at, index) });
      add('link_open', 'a', 1, { attrs: [['href', `/${glossary}#${place}`], ['class', 'term']] });
      add('text', '', 0, { content: found });
      add('link_close', 'a', -1, {});
      at = index + found.length;
    }
    add('text', '', 0, { content: token.content.slice(at) });
    return made;
  }

  md.core.ruler.after('inline', 'book_terms', ({ tokens, env, Token }) => {
    if (!/^(chapters|lab|exercises)\/(?!glossary)/.test(env.relativePath ?? '')) return;
    const used = new Set();
    for (const [i, token] of tokens.entries()) {
      if (token.type !== 'inline' || tokens[i - 1]?.type === 'heading_open') continue;
      let depth = 0;
      token.children = token.children.flatMap((child) => {
        depth += child.type === 'link_open' ? 1 : child.type === 'link_close' ? -1 : 0;
        return child.type === 'text' && !depth ? linked(child, used, Token) : [child];
      });
    }
  });
}
