// Which texts there are, and what they link to.
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { root, slides } from './project.mjs';

export function deck_names() {
  return readdirSync(slides).filter((name) => /^\d\d_\w+\.md$/.test(name)).sort();
}

export const is_deck = (name) => /^slides\/\d\d_/.test(name);

// Chapters, the last page, tasks, READMEs and decks; paths in the project.
export function texts() {
  const in_folders = (folder, file) => readdirSync(resolve(root, folder)).filter((name) => /^\d\d[a-z]?_/.test(name)).sort()
    .map((name) => `${folder}/${name}/${file}`);
  const all = ['README.md', 'steps/README.md', 'common/simt/README.md', 'exercises/README.md', 'steps/THE_END.md', 'steps/ALL_SHAPES.md', 'steps/results/README.md', ...in_folders('steps', 'NOTES.md'),
    ...in_folders('steps', 'LAB.md'),
    ...in_folders('steps', 'GLOSSARY.md'), ...in_folders('exercises', 'TASK.md'), ...deck_names().map((name) => `slides/${name}`)];
  return all.filter((name) => existsSync(resolve(root, name)));
}

export const without_code = (text) => text.replace(/```[^]*?\n```|<!-- code: .*-->|<!-- numbers\n[^]*?-->/g, '');

// What a text links to inside the project.
export function links(text) {
  return [...without_code(text).replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map((m) => m[1]).filter((url) => !/^[a-z]+:/i.test(url));
}

// The name of a heading in its address, as GitHub makes it.
export const slug = (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-');
