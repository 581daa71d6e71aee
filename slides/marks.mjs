// The marks of a text, and what stands behind each today.
import { code, diff } from './code.mjs';
import { fail } from './project.mjs';
import { ladder, output } from './printed.mjs';
import { blocks, line_at, listed, marks } from './places.mjs';
import { made_table } from './tables.mjs';
import { value } from './values.mjs';

const makers = { code, diff, table: made_table, ladder, output };

const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];

// Whether a listed number is what its mark stands for: "eight" is 8.
const is_shown = (shown, is) => shown.replace(/\s+/g, ' ') === is || words[Number(is)] === shown.toLowerCase();

// Where two blocks differ first: how many lines down, and the two lines.
function first_difference(old, made) {
  const [was, is] = [old, made].map((text) => text.split('\n'));
  const at = Array.from({ length: Math.max(was.length, is.length) }, (_, i) => i).find((i) => was[i] !== is[i]);
  return { at, was: was[at] ?? '(no line)', is: is[at] ?? '(no line)' };
}

// The text from begin to end with pieces of it replaced: [from, length, now].
function replaced(text, pieces, begin = 0, end = text.length) {
  const inside = pieces.filter(([from]) => from >= begin && from < end).sort((a, b) => a[0] - b[0]);
  let made = '', at = begin;
  for (const [from, length, now] of inside) {
    made += text.slice(at, from) + now;
    at = from + length;
  }
  return made + text.slice(at, end);
}

// The row of a listed number, if its piece of the prose changes.
function new_row(text, { mark, shown, at, begin, end, row, row_at }, numbers) {
  if (!numbers.some(([from]) => from >= begin && from < end)) return [];
  const part = (...range) => replaced(text, numbers, ...range).replace(/\s+/g, ' ');
  return [[row_at, row.length, `${part(begin, at)}[${part(at, at + shown.length)}]${part(at + shown.length, end)} <- ${mark}`]];
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
  for (const { index, all, mark, what, args, rest } of blocks(text)) {
    const old = rest.trimEnd();
    const made = attempt(() => makers[what](args.replace(/\s*\n\s*/g, ' '), build) ?? old, old, index);
    bring(index + mark.length, old, made);
    new_blocks.push([index, all.length, mark + made + (rest.startsWith('`') ? '' : '\n')]);
  }
  for (const m of text.matchAll(marks.span)) {
    const [all, what, old] = m, at = m.index + all.length - '</span>'.length - old.length;
    if (new_blocks.some(([from, length]) => m.index >= from && m.index < from + length)) continue;
    const made = attempt(() => value(what, build), old, m.index);
    bring(m.index, old, made);
    new_blocks.push([at, old.length, made]);
  }
  const rows = listed(text), numbers = [];
  for (const { mark, shown, at, row_at, line, message } of rows) {
    const made = message ? wrong.push({ line, message }) : attempt(() => value(mark, build), shown, row_at);
    if (message || is_shown(shown, made)) continue;
    bring(at, shown, made);
    numbers.push([at, shown.length, made]);
  }
  new_blocks.push(...numbers, ...rows.flatMap((row) => new_row(text, row, numbers)));
  for (const m of text.matchAll(/data-value/g))
    if (![...text.matchAll(marks.span)].some((s) => m.index > s.index && m.index < s.index + s[0].length))
      wrong.push({ line: line_at(text, m.index), message: 'this mark is not <span data-value="...">...</span>' });
  return { made: replaced(text, new_blocks), stale: stale.sort((a, b) => a.line - b.line), wrong };
}
