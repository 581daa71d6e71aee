// How long a lesson may be, and how much of its source may be markup: a learner reads it, on a page or as it is.
import { written } from './places.mjs';

const lesson = { words: 1500, markup: 8 };
const limits = { 'README.md': { words: 1200 }, 'steps/00_machine/NOTES.md': { words: 1000, markup: 8 } };
const limit_of = (name) => limits[name] ?? (/^steps\/\d\d_\w+\/NOTES\.md$/.test(name) ? lesson : {});

const fence = /```[^]*?\n```/g, markup = /<!--[^]*?-->\n?|<\/?[a-z][^>]*>|\]\([^)]*\)/g;
const bytes = (text) => Buffer.byteLength(text);

// Words are what is shown, tables too, but code is none; a word has a letter or a digit. Markup are comments, tags and the
// places that links lead to, in percent of the text before the list of its numbers.
export function lengths(text) {
  const before = written(text);
  const marks = [...before.matchAll(markup)].reduce((sum, [mark]) => sum + bytes(mark), 0);
  const shown = before.replace(fence, '').replace(markup, ' ').split(/\s+/);
  return { words: shown.filter((word) => /[\p{L}\p{N}]/u.test(word)).length, markup: (100 * marks) / bytes(before) };
}

// A list of { line, message }.
export function too_long(name, text) {
  const is = lengths(text), limit = limit_of(name);
  return [
    ...(is.words > limit.words ? [{ line: 1, message: `${is.words} words, and ${limit.words} are the limit` }] : []),
    ...(is.markup > limit.markup ? [{ line: 1, message: `${is.markup.toFixed(1)} % of it is markup, and ${limit.markup} are the limit: long marks can go to its list` }] : []),
  ];
}
