#!/usr/bin/env node
// Makes the book, a static web site: node slides/book/make.mjs BUILD [TO]. meson compile -C build book calls it, and the
// site is in BUILD/book. BOOK_BASE=/path/ is for a site that does not stand at the root of its host. Decks that
// meson compile -C build slides rendered are copied.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { root, slides } from '../project.mjs';
import { missing } from '../tools.mjs';
import { helps } from './answering.mjs';
import { compile_answers } from './compile.mjs';
import { copy_compiler } from './lab/compile_files.mjs';
import { bench_pages, with_exercise } from './exercise_pages.mjs';
import { copy_labs, lab_of, with_lab } from './labs.mjs';
import { narrow_of } from './links.mjs';
import { address, code_url, decks, kernel_of, source_pages, target_of } from './pages.mjs';

export const book = join(slides, 'book');

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// --- a page's Markdown ---

const link = ([text, url]) => `[${text}](/${url.replace(/index$/, '')})`;
const tries = (list) => (list.length ? [`Try: ${list.map(link).join(', ')}`] : []);
const heading = (name) => new RegExp(`^## ${name}$`, 'm');

// Below the title of a chapter: where its code, its exercise and its deck are. Below that of any page that they help with:
// the pages that answer; or below the heading to which one belongs.
function with_links(page, pages, lab) {
  const step = page.url.match(/^chapters\/(\d\d_\w+)$/)?.[1], text = page.text();
  const here = ([, url]) => pages.some((other) => other.url === url.split(/[?#]/)[0] && (!url.includes('#') || other.places?.includes(url.split('#')[1])));
  const answering = (helps[page.url] ?? []).filter(here), below = answering.filter(([, , name]) => name && heading(name).test(text));
  const top = [...(lab ? [`[The lab](/chapters/${step}#run-it)`] : []), ...(step ? chapter_places(page, step).filter(here).map(link) : []),
    ...tries(answering.filter((help) => !below.includes(help)))].join(' · ');
  const insert = (all, at, line) => all.replace(at, (found) => `${found}\n\n${line}\n`);
  return below.reduce((all, help) => insert(all, heading(help[2]), tries([help])), top ? insert(text, /^# .+$/m, top) : text);
}

function chapter_places(page, step) {
  const places = [['Lab notes', `lab/${step}`], ['What changed', `changes/${step}`], ['The kernel', code_url(kernel_of(step))],
    ['What it is worth', `worth#${step}`]];
  const tasks = [...new Set([...page.text().matchAll(/\]\(\.\.\/\.\.\/exercises\/(\w+)\/TASK\.md\)/g)].map((m) => m[1]))];
  for (const name of tasks) places.push([`Exercise ${name.split('_')[0]}`, `exercises/${name}`]);
  return [...places, ['Slides', 'decks/index']];
}

function markdown(page, pages, lab, about, coloured) {
  const head = page.code ? '---\nsearch: false\naside: false\npageClass: code\n---\n\n' : '';
  const text = head + with_lab(lab(page), with_exercise(page, with_links(page, pages, lab(page)), about));
  return coloured(page.url) ? text : text.replace(/^(`{3,})\w+/gm, '$1text');
}

// --- the folder that VitePress reads ---

function copy_pictures(pages, folder) {
  for (const { source, text, pictures } of pages) {
    const shown = source ? [...text().matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map((m) => target_of(source, m[1])) : [];
    const all = [...shown, ...(pictures ?? [])];
    for (const path of [...all, ...all.map(narrow_of).filter(Boolean)])
      if (existsSync(resolve(root, path))) cpSync(resolve(root, path), join(folder, 'public', 'files', path));
  }
}

// A deck's links lead to files of the project; in the book, to its pages.
function deck_html(path, by_source) {
  return readFileSync(path, 'utf8').replace(/ href="(?![a-z]+:|#)([^"#]*)(#[^"]*)?"/g, (all, link, hash) => {
    const file = relative(root, resolve(dirname(path), link)).replaceAll(sep, '/'), deck = file.match(/^slides\/(\d\d_\w+)\.md$/);
    const to = deck ? `/decks/${deck[1]}` : address(by_source, 'README.md', file);
    return to ? ` href="..${to}.html${hash ?? ''}"` : '';
  });
}

function copy_decks(pages, rendered, folder) {
  const by_source = new Map(pages.map((page) => [page.source, page]));
  for (const { name } of decks()) {
    const from = join(rendered, `${name}.html`);
    if (existsSync(from)) write(join(folder, 'public', 'decks', `${name}.html`), deck_html(from, by_source));
  }
}

// VitePress wants its settings, its theme and its packages in one folder.
function lay_out(folder) {
  const theme = JSON.stringify(join(book, 'theme', 'index.js'));
  write(join(folder, '.vitepress', 'config.mjs'), 'export default globalThis.book_settings;\n');
  write(join(folder, '.vitepress', 'theme', 'index.js'), `export { default } from ${theme};\n`);
  write(join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(join(book, 'node_modules'), join(folder, 'node_modules'));
}

// For the test: more: { url, text } of further pages; coloured: whether the code of a page has colours, which take half of the
// time. Returns the pages' urls.
export async function make(build, to, { base = '/', more = [], coloured = () => true } = {}) {
  const [{ made_pages }, { config }, vitepress] = await Promise.all(
    ['./made.mjs', './config.mjs', 'vitepress'].map((name) => import(name)));
  const folder = mkdtempSync(join(tmpdir(), 'book-')), rendered = join(build, 'slides');
  try {
    const lacking = compile_answers(join(folder, 'public', 'answers.wasm'));
    if (lacking) console.log(`book: ${lacking}`);
    const version = await copy_labs(build, join(folder, 'public', 'labs'));
    if (!version) console.log('book: emcc is not on the PATH (apt-get install emscripten): the labs are left out');
    const compiler = version && await copy_compiler(build, join(folder, 'public', 'labs'));
    const lab = ({ url }) => lab_of(build, url.match(/^chapters\/(\d\d_\w+)$/)?.[1], version, compiler);
    const pages = source_pages(), made = [...await made_pages(pages, { build, rendered, answers: !lacking, coloured }), ...bench_pages({ version, compiler })], all = [...pages, ...made, ...more];
    lay_out(folder);
    for (const page of all) write(join(folder, `${page.url}.md`), markdown(page, all, lab, { version, compiler }, coloured));
    copy_pictures(all, folder);
    copy_decks(pages, rendered, folder);
    globalThis.book_settings = config({ to, base, pages, made });
    await vitepress.build(folder);
    return all.map(({ url }) => url);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function main() {
  const [build, to] = process.argv.slice(2);
  if (!build) {
    console.error('usage: node slides/book/make.mjs BUILD [TO]');
    return 2;
  }
  const lacking = missing(true, { folder: book, browser: false });
  for (const line of lacking) console.error(`book: ${line}`);
  if (lacking.length) return 1;
  const begun = Date.now(), out = resolve(to ?? join(build, 'book'));
  const pages = await make(resolve(build), out, { base: process.env.BOOK_BASE });
  console.log(`${pages.length} pages in ${out}, ${((Date.now() - begun) / 1000).toFixed(1)} s; to read them:\n` +
    `node ${join(book, 'serve.mjs')} ${out}`);
  return 0;
}

if (process.argv[1]?.endsWith('make.mjs'))
  main().then((status) => (process.exitCode = status), (error) => {
    console.error(`book: ${error.message}`);
    process.exitCode = 1;
  });
