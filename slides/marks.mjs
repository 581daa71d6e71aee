// The marks of a text, and what stands behind each today.
import { code, diff } from './code.mjs';
import { fail } from './project.mjs';
import { ladder, output } from './printed.mjs';
import { made_table } from './tables.mjs';
import { value } from './values.mjs';

const makers = { code, diff, table: made_table, ladder, output };

// After its mark stands what was made last time: a fenced block, or the rows of a table.
const block = /(<!-- (code|diff|table|ladder|output): ((?:(?!-->)[^])*?) -->\n)(```[^]*?\n```(?=\n)|(?:\|[^\n]*(?=\n)\n?)*)/g;
const span = /<span\s+data-value="([^"]*)">([^<]*)<\/span>/g;

export const marks = { block, span };

const line_at = (text, offset) => text.slice(0, offset).split('\n').length;

// Where two blocks differ first: how many lines down, and the two lines.
function first_difference(old, made) {
  const [was, is] = [old, made].map((text) => text.split('\n'));
  const at = Array.from({ length: Math.max(was.length, is.length) }, (_, i) => i).find((i) => was[i] !== is[i]);
  return { at, was: was[at] ?? '(no line)', is: is[at] ?? '(no line)' };
}

// Returns the text made anew, and lists: stale: { line, was, is }, wrong: { line, message }. Lines are those of the text.
export function refresh(text, build) {
  const stale = [], wrong = [];
  const attempt = (make, old, offset) => {
    try {
      return make();
    } catch (error) {
      wrong.push({ line: line_at(text, offset), message: error.message.split('\n')[0] });
      return old;
    }
  };
  const bring = (offset, old, made) => {
    if (old === made) return;
    const { at, was, is } = first_difference(old, made);
    stale.push({ line: line_at(text, offset) + at, was, is });
  };
  const new_blocks = [];
  for (const m of text.matchAll(block)) {
    const [all, mark, what, args, rest] = m, old = rest.trimEnd();
    const made = attempt(() => makers[what](args.replace(/\s*\n\s*/g, ' '), build) ?? old, old, m.index);
    bring(m.index + mark.length, old, made);
    new_blocks.push([m.index, all.length, mark + made + (rest.startsWith('`') ? '' : '\n')]);
  }
  for (const m of text.matchAll(span)) {
    const [all, what, old] = m, at = m.index + all.length - '</span>'.length - old.length;
    if (new_blocks.some(([from, length]) => m.index >= from && m.index < from + length)) continue;
    const made = attempt(() => value(what, build), old, m.index);
    bring(m.index, old, made);
    new_blocks.push([at, old.length, made]);
  }
  for (const m of text.matchAll(/data-value/g))
    if (![...text.matchAll(span)].some((s) => m.index > s.index && m.index < s.index + s[0].length))
      wrong.push({ line: line_at(text, m.index), message: 'this mark is not <span data-value="...">...</span>' });
  let made = text;
  for (const [from, length, now] of new_blocks.sort((a, b) => b[0] - a[0])) made = made.slice(0, from) + now + made.slice(from + length);
  return { made, stale: stale.sort((a, b) => a.line - b.line), wrong };
}
