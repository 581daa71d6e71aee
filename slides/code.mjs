// Code and differences: the lines of files and of diffs that a text asks for.
import { execFileSync } from 'node:child_process';
import { fail, read, root } from './project.mjs';
import { source_of } from './sources.mjs';

// "bare" before the texts: without comments.
function bare(parts, where) {
  if (!where.startsWith('bare ')) return parts;
  const code = (line) => line.replace(/\s*\/\/.*$/, '');
  return parts.map((part) => part.filter((line) => !/^[-+ ]?\s*\/\//.test(line)).map(code));
}

// The lines of every "first" .. "last" in turn, "..." between them. A text is how a line begins; "first" alone is a line,
// and only one may begin so, but where any will do the first one is taken.
export function pick(lines, where, begins, any = false) {
  const parts = [];
  for (const range of where.matchAll(/"([^"]*(?:\\"[^"]*)*)"(?:\s*\.\.\s*"([^"]*(?:\\"[^"]*)*)")?/g)) {
    const [first, last] = range.slice(1).map((text) => text?.replaceAll('\\"', '"'));
    const at = lines.flatMap((line, i) => (begins(line, first) ? [i] : []));
    if (any ? !at.length : at.length !== 1) fail(`${at.length} lines begin with "${first}", not one`);
    const n = last === undefined ? 0 : lines.slice(at[0]).findIndex((line) => begins(line, last));
    if (n < 0) fail(`no line after "${first}" begins with "${last}"`);
    parts.push(lines.slice(at[0], at[0] + n + 1));
  }
  return parts.length ? parts : fail(`"first" .. "last" is missing: ${where}`);
}

const indent = (line) => line.match(/^ */)[0].length;

// "STEP ..." or "PATH ...": lines of a file.
export function code(text) {
  const [, what, where] = text.match(/^(\S+) (.*)$/s) ?? fail(`what is "${text}"?`);
  const path = source_of(what);
  const parts = bare(pick(read(path).split('\n'), where, (line, text) => line.trim().startsWith(text)), where);
  const depth = Math.min(...parts.flat().filter((line) => line.trim()).map(indent));
  const lines = parts.map((part) => part.map((line) => line.slice(depth)).join('\n')).join('\n...\n');
  return [/\.cuh?$/.test(path) ? '```cpp' : '```text', lines, '```'].join('\n');
}

function difference(a, b) {
  try {
    execFileSync('diff', ['-U2', source_of(a), source_of(b)], { cwd: root });
    return fail(`${a} and ${b} have the same kernel`);
  } catch (error) {
    if (error.status !== 1) throw error;
    return error.stdout.toString().split('\n').slice(2, -1);
  }
}

export function changed_lines(a, b) {
  const changed = difference(a, b), n = (sign) => changed.filter((line) => line[0] === sign).length;
  return { come: n('+'), go: n('-') };
}

// "STEP STEP ...": lines of the difference of two kernels.
export function diff(text) {
  const [, a, b, where] = text.match(/^(\w+) (\w+) (.*)$/s) ?? fail(`what is "${text}"?`);
  const begins = (line, text) => (/^[+-]/.test(text) ? line[0] + line.slice(1).trim() : line.slice(1).trim()).startsWith(text);
  const parts = bare(pick(difference(a, b), where, begins), where);
  const depth = Math.min(...parts.flat().filter((line) => line.slice(1).trim()).map((line) => indent(line.slice(1))));
  const cut = (line) => (line[0] + line.slice(1 + depth)).trimEnd();
  return ['```diff', parts.map((part) => part.map(cut).join('\n')).join('\n ...\n'), '```'].join('\n');
}
