// Where the marks of a text stand: blocks, spans, and the list of numbers at its end, by which its prose needs no marks.
// A row of that list is a piece of the prose with the number in brackets, an arrow, and the mark, as README.md lists them:
//
//   <!-- numbers
//   the pipe was [86 %] busy <- ncu 05 l1_busy
//   output race <- build/02_smem_tile --device=sim --sanitize : "race"
//   -->
//
// The last of these rows is a long block mark, which is only <!-- output: race --> in the text.

// After its mark stands what was made last time: a fenced block, or the rows of a table.
const block = /(<!-- (code|diff|table|ladder|output): ((?:(?!-->)[^])*?) -->\n)(```[^]*?\n```(?=\n)|(?:\|[^\n]*(?=\n)\n?)*)/g;
const span = /<span\s+data-value="([^"]*)">([^<]*)<\/span>/g;
const list = /^<!-- numbers\n([^]*?)^-->/m;

const block_row = /^(code|diff|table|ladder|output) ([\w-]+) <- (.+)$/;

export const marks = { block, span };

export const line_at = (text, offset) => text.slice(0, offset).split('\n').length;

// In a text's place stand blanks, so that lines keep their numbers and letters their places.
export const blank = (text) => text.replace(/[^\n]/g, ' ');

const without = (text, ...patterns) => patterns.reduce((left, pattern) => left.replace(pattern, blank), text);
const fence = /```[^]*?\n```/g;
const pattern_of = (words) => words.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\s+/g, '\\s+');

const rows_of = (text) => without(text, fence).match(list)?.[1].trimEnd().split('\n') ?? [];

// The blocks of a text: { index, all, mark, what, args, rest, name }, and name where the list has what it asks for.
export function blocks(text) {
  const long = new Map(rows_of(text).flatMap((row) => (block_row.test(row) ? [[row.replace(/ <- .*/, ''), row.match(block_row)[3]]] : [])));
  return [...text.matchAll(block)].map(({ index, 0: all, 1: mark, 2: what, 3: args, 4: rest }) => {
    const name = `${what} ${args}`;
    return { index, all, mark, what, rest, args: long.get(name) ?? args, ...(long.has(name) && { name }) };
  });
}

// The rows of the list: { mark, shown, at, end, begin, row, row_at }: the number as it stands in the prose, where it begins
// there, where the piece ends and begins, the row, and where that begins. Or { line, message } if the row is none, or its
// piece does not stand in the prose exactly once.
export function listed(text) {
  const found = without(text, fence).match(list);
  if (!found) return [];
  const prose = without(text, block, fence, list), named = blocks(text).map(({ name }) => name);
  let next = found.index + found[0].indexOf('\n') + 1;
  return found[1].trimEnd().split('\n').flatMap((row) => {
    const row_at = next, line = line_at(text, row_at);
    next += row.length + 1;
    if (block_row.test(row))
      return named.includes(row.replace(/ <- .*/, '')) ? [] : { line, message: `"${row}" is of no block of the text` };
    const [, before, number, after, mark] = row.match(/^(.*?)\[([^[\]]+)\](.*) <- (.+)$/) ?? [];
    if (!mark || row.includes('-->')) return { line, message: `"${row}" is no row: TEXT with its [NUMBER] <- MARK` };
    // Looked for from each letter on, so that "| 32 |" stands twice in "| 32 | 32 |".
    const [place, ...more] = prose.matchAll(new RegExp(`(?=((${pattern_of(before)})(${pattern_of(number)})${pattern_of(after)}))`, 'g'));
    if (!place || more.length) return { line, message: `"${before}${number}${after}" stands ${place ? more.length + 1 : 0} times in the text, not once` };
    const [, piece, ahead, shown] = place, at = place.index + ahead.length;
    return { mark, shown, at, begin: place.index, end: place.index + piece.length, row, row_at };
  });
}

// A text without its list.
export function written(text) {
  const found = without(text, fence).match(list);
  return found ? text.slice(0, found.index) + text.slice(found.index + found[0].length) : text;
}

// The same with each mark in full before its block.
export const written_out = (text) => written(blocks(text).reduceRight((left, { index, mark, what, args }) =>
  `${left.slice(0, index)}<!-- ${what}: ${args} -->\n${left.slice(index + mark.length)}`, text));

// What the marks of a text ask for, but for its blocks.
export const asked = (text) => [...[...text.matchAll(span)].map((m) => m[1]), ...listed(text).map(({ mark }) => mark ?? '')];
