// How Marp renders the decks: pictures are put into the page, so that a deck is one file and asks nobody for anything;
// the comments that refresh.mjs reads are no speaker notes, and notes are without its marks.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const from_output = process.env.SLIDES_SOURCE ?? '.';  // this directory, seen from where the rendered decks lie

// An SVG may have colours for dark pages; a slide is light for everybody.
function data_url(src) {
  const svg = readFileSync(resolve(here, src), 'utf8');
  const light = svg.replace(/@media \(prefers-color-scheme: dark\) \{(?:[^{}]*\{[^{}]*\})*\s*\}/, '');
  return `data:image/svg+xml;base64,${Buffer.from(light).toString('base64')}`;
}

function is_relative(url) {
  return !/^([a-z]+:|#|\/)/i.test(url);
}

function each_token(tokens, visit) {
  for (const token of tokens) {
    visit(token);
    each_token(token.children ?? [], visit);
  }
}

function course(md) {
  md.core.ruler.after('inline', 'course', (state) => {
    each_token(state.tokens, (token) => {
      const src = token.type === 'image' ? token.attrGet('src') : null;
      if (src && is_relative(src)) token.attrSet('src', data_url(src));
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href && is_relative(href)) token.attrSet('href', `${from_output}/${href}`);
      if (token.type !== 'marpit_comment') return;
      if (/^((code|diff|table|ladder|output):|numbers\n)/.test(token.content.trim()))
        token.meta = { ...token.meta, marpitCommentParsed: 'marker' };
      token.content = token.content.replace(/<span data-value="[^"]*">([^<]*)<\/span>/g, '$1');  // a note is plain text
    });
  });
}

export default {
  themeSet: [resolve(here, 'theme.css')],
  html: true,
  lang: 'en',
  engine: ({ marp }) => marp.use(course),
  options: { math: false, emoji: { unicode: false, shortcode: false }, script: { source: 'inline' } },
};
