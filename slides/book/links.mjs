// The links and pictures of a text lead to files of the project; in the book they lead to pages. A plugin of markdown-it.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../project.mjs';
import { address, target_of } from './pages.mjs';

const elsewhere = (url) => /^([a-z]+:|#|\/)/i.test(url);

// A link to what is no page of the book: its text stays.
function drop(tokens, open) {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    depth += tokens[i].type === 'link_open' ? 1 : tokens[i].type === 'link_close' ? -1 : 0;
    if (depth) continue;
    for (const token of [tokens[open], tokens[i]]) token.tag = 'span';
    tokens[open].attrs = null;
    return;
  }
}

function size_of(path) {
  const [, width, height] = readFileSync(resolve(root, path), 'utf8').match(/<svg[^>]* width="([\d.]+)" height="([\d.]+)"/) ?? [];
  return width ? { width, height } : {};
}

// For a phone a picture may have a narrow form beside it, x_narrow.svg beside x.svg; null: it has none.
export function narrow_of(path) {
  const narrow = path.replace(/(\.\w+)$/, '_narrow$1');
  return existsSync(resolve(root, narrow)) ? narrow : null;
}

// pages: as source_pages() has them; base: the path of the book on its host.
export function links_plugin(md, { pages, base }) {
  const by_source = new Map(pages.map((page) => [page.source, page]));
  const by_url = new Map(pages.map((page) => [`${page.url}.md`, page]));

  function visit(tokens, source) {
    for (const [i, token] of tokens.entries()) {
      if (token.children) visit(token.children, source);
      if (token.type === 'link_open' && !elsewhere(token.attrGet('href'))) {
        const [link, hash] = token.attrGet('href').split('#');
        const to = address(by_source, source, link);
        if (to) token.attrSet('href', to.replace(/\/index$/, '/') + (hash ? `#${hash}` : ''));
        else if (/\.md$/.test(link)) throw new Error(`${source} links to ${link}, a text without a page in the book`);
        else drop(tokens, i);
      }
      if (token.type === 'image' && !elsewhere(token.attrGet('src'))) {
        const path = target_of(source, token.attrGet('src'));
        token.attrSet('src', `/files/${path}`);
        for (const [name, value] of Object.entries(size_of(path))) token.attrSet(name, value);
      }
    }
  }

  md.core.ruler.push('book_links', (state) => {
    const page = by_url.get(state.env.relativePath);
    if (page) visit(state.tokens, page.source);
  });

  // On a phone a wide picture scrolls in its frame, or its narrow form is shown; a click shows it alone.
  const image = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, i, options, env, self) => {
    const src = tokens[i].attrGet('src'), drawn = image(tokens, i, options, env, self);
    if (!src.startsWith('/files/')) return drawn;
    const narrow = narrow_of(src.slice('/files/'.length)), url = (path) => base + md.utils.escapeHtml(path);
    const shown = narrow ? `<picture><source media="(max-width: 767px)" :srcset="'${url(`files/${narrow}`)}'">${drawn}</picture>` : drawn;
    return `<a class="picture${narrow ? ' has-narrow' : ''}" href="${url(src.slice(1))}" target="_blank">${shown}</a>`;
  };
}
