#!/usr/bin/env node
// Every link of every text of the project leads to a file or folder, and to a heading where it names one; every picture of
// pictures.txt is shown, and what is shown is in it. Names what is wrong, and exits with 1 if anything is. Needs no packages.
//
//   node slides/links.mjs
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, slides } from './project.mjs';
import { pictures } from './sources.mjs';
import { links, slug, without_code } from './texts.mjs';

// The texts below a folder; not what was built or fetched.
function texts_below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|build.*|\.git)$/.test(entry.name) ? [] : texts_below(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

// The places in a text that a link may name: its headings, the second of the same name with -1, and what has an id.
function places(text) {
  const found = new Set([...text.matchAll(/ id="([^"]*)"/g)].map((m) => m[1]));
  for (const [, heading] of without_code(text).matchAll(/^#+ (.*)$/gm)) {
    const name = slug(heading.replace(/<[^>]*>|\]\([^)]*\)/g, ''));
    const same = Array.from({ length: 100 }, (_, i) => (i ? `${name}-${i}` : name)).find((one) => !found.has(one));
    found.add(same);
  }
  return found;
}

export function wrong_links(folder) {
  return texts_below(folder).flatMap((path) => links(readFileSync(path, 'utf8')).filter((url) => {
    const [file, place] = decodeURI(url).split('#'), to = file ? join(dirname(path), file) : path;
    return !existsSync(to) || (place && (!to.endsWith('.md') || !places(readFileSync(to, 'utf8')).has(place)));
  }).map((url) => `${relative(folder, path)}: ${url} leads nowhere`));
}

function wrong_pictures() {
  const shown = new Set(texts_below(root).flatMap((path) => links(readFileSync(path, 'utf8'))
    .map((url) => relative(slides, join(dirname(path), url))).filter((url) => url.startsWith('pictures/'))));
  const listed = new Set(pictures().map(({ file }) => `pictures/${file}`));
  const wide = (file) => file.replace(/_narrow(?=\.\w+$)/, '');  // whose narrow form the book shows on a phone
  return [...[...listed].filter((file) => !shown.has(wide(file))).map((file) => `slides/${file} is in no text`),
    ...[...shown].filter((file) => !listed.has(file)).map((file) => `slides/${file} is not in slides/pictures.txt`)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wrong = [...wrong_links(root), ...wrong_pictures()];
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length ? 1 : 0;
}
