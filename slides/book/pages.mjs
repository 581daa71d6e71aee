// Which pages the book has: the texts of the project, and pages that are made. A page has a url without .html, a title,
// and text(), its Markdown; source is the path of the text in the project, by which others link to it.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, posix, resolve } from 'node:path';
import { read, root } from '../project.mjs';
import { deck_names, links } from '../texts.mjs';

const folders = (where) => readdirSync(resolve(root, where)).filter((name) => /^\d\d[a-z]?_/.test(name)).sort();
const here = (path) => existsSync(resolve(root, path));
const title_of = (text) => text.match(/^# (.+)$/m)[1].replaceAll('`', '').replaceAll('<br>', ' ');

// --- the texts ---

function text_page(source, url) {
  const text = read(source);
  return { url, source, title: title_of(text), text: () => text };
}

// The file that a learner edits stands below its task.
function task_page(name) {
  const page = text_page(`exercises/${name}/TASK.md`, `exercises/${name}`), stub = `exercises/${name}/kernel.cu`;
  const text = () => `${page.text().replace(/\n<!-- numbers\n[^]*$/, '')}\n## The file to edit\n\n\`${stub}\`, in your copy of the course:\n\n` +
    `\`\`\`cpp:line-numbers\n${read(stub)}\`\`\`\n`;
  return { ...page, text };
}

export const kernel_of = (step) => `steps/${step}/kernel.cu`;
export const steps = () => folders('steps').filter((name) => here(kernel_of(name)));

// A step and the one before it: its lesson is their difference. The machine's kernel is not a step of the ladder.
export function neighbours() {
  const ladder = steps().filter((name) => !name.startsWith('00'));
  return ladder.slice(1).map((step, i) => ({ before: ladder[i], step }));
}

function texts() {
  const found = [text_page('README.md', 'start')];
  for (const name of folders('steps')) {
    if (here(`steps/${name}/NOTES.md`)) found.push(text_page(`steps/${name}/NOTES.md`, `chapters/${name}`));
    if (here(`steps/${name}/LAB.md`)) found.push(text_page(`steps/${name}/LAB.md`, `lab/${name}`));
    if (here(`steps/${name}/GLOSSARY.md`)) found.push(text_page(`steps/${name}/GLOSSARY.md`, 'chapters/glossary'));
  }
  for (const name of folders('exercises'))
    if (here(`exercises/${name}/TASK.md`)) found.push(task_page(name));
  const others = { 'steps/README.md': 'steps', 'steps/SETUP.md': 'setup', 'common/simt/README.md': 'simt',
    'common/watch/README.md': 'watch', 'common/cudart/README.md': 'programs', 'common/library/README.md': 'library', 'steps/THE_END.md': 'chapters/the_end', 'steps/ALL_SHAPES.md': 'chapters/all_shapes',
    'common/simt/clock/NOTES.md': 'chapters/clock',
    'common/README.md': 'chapters/simulator', 'exercises/README.md': 'exercises/index', 'exercises/CLASS.md': 'exercises/class',
    'steps/results/README.md': 'results', 'slides/README.md': 'decks/making' };
  for (const [source, url] of Object.entries(others)) if (here(source)) found.push(text_page(source, url));
  return found;
}

// --- code: the kernels, and each file that a text links to ---

const languages = { cu: 'cpp', cuh: 'cpp', h: 'c', c: 'c', mjs: 'js', yml: 'yaml', py: 'python' };

// kernel.cu has the page kernel_cu: to a server, an ending says what a file is.
export const code_url = (source) => `code/${source.replace(/\.(\w+)$/, '_$1')}`;

function code_page(source) {
  const ending = source.split('.').at(-1), fence = '````';
  const text = () => `# ${source}\n\n${fence}${languages[ending] ?? 'text'}:line-numbers\n${read(source)}${fence}\n`;
  return { url: code_url(source), source, title: source, text, code: true };
}

const code = /\.(cuh?|[ch]|mjs|yml|py|sh|build|txt)$/;

export const target_of = (source, link) => posix.join(posix.dirname(source), decodeURI(link)).replace(/\/$/, '');

function code_pages(pages) {
  const linked = pages.flatMap(({ source, text }) => links(text()).map((link) => target_of(source, link.split('#')[0])));
  const wanted = [...steps().map(kernel_of), 'common/edges.cuh', ...linked.filter((path) => code.test(path))];
  return [...new Set(wanted)].filter((path) => here(path) && statSync(resolve(root, path)).isFile()).sort().map(code_page);
}

// --- all of them ---

export function source_pages() {
  const pages = texts();
  return [...pages, ...code_pages(pages)];
}

// The address of what a text links to: of a page, of a deck, or null if the book has no such page.
export function address(by_source, source, link) {
  const path = target_of(source, link);
  const page = by_source.get(path) ?? ['README.md', 'NOTES.md'].map((name) => by_source.get(`${path}/${name}`)).find(Boolean);
  if (page) return `/${page.url}`;
  return dirname(path) === 'slides' && deck_names().includes(posix.basename(path)) ? '/decks/' : null;
}

export const decks = () => deck_names().map((name) => ({ name: name.replace(/\.md$/, ''),
  title: title_of(read(`slides/${name}`).replace(/^---[^]*?\n---\n/, '')) }));
