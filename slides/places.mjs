// Where the marks of a text stand: blocks, spans, and the list of numbers at its end, by which its prose needs no marks.
// A row of that list is a piece of the prose with the number in brackets, an arrow, and the mark, as README.md lists them:
//
//   <!-- numbers
//   the pipe was [86 %] busy <- ncu 05 l1_busy
//   -->

// After its mark stands what was made last time: a fenced block, or the rows of a table.
const block = /(<!-- (code|diff|table|ladder|output): ((?:(?!-->)[^])*?) -->\n)(```[^]*?\n```(?=\n)|(?:\|[^\n]*(?=\n)\n?)*)/g;
const span = /<span\s+data-value="([^"]*)">([^<]*)<\/span>/g;
const list = /^<!-- numbers\n([^]*?)^-->/m;

export const marks = { block, span };

export const line_at = (text, offset) => text.slice(0, offset).split('\n').length;

// In a text's place stand blanks, so that lines keep their numbers and letters their places.
export const blank = (text) => text.replace(/[^\n]/g, ' ');

const without = (text, ...patterns) => patterns.reduce((left, pattern) => left.replace(pattern, blank), text);
const fence = /```[^]*?\n```/g;
const pattern_of = (words) => words.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replace(/\s+/g, '\\s+');

// The rows of the list: { mark, shown, at, end, begin, row, row_at }: the number as it stands in the prose, where it begins
// there, where the piece ends and begins, the row, and where that begins. Or { line, message } if the row is none, or its
// piece does not stand in the prose exactly once.
export function listed(text) {
  const found = without(text, fence).match(list);
  if (!found) return [];
  const prose = without(text, block, fence, list);
  let next = found.index + found[0].indexOf('\n') + 1;
  return found[1].trimEnd().split('\n').map((row) => {
    const row_at = next, line = line_at(text, row_at);
    next += row.length + 1;
    const [, before, number, after, mark] = row.match(/^(.*?)\[([^[\]]+)\](.*) <- (.+)$/) ?? [];
    if (!mark || row.includes('-->')) return { line, message: `"${row}" is no row: TEXT with its [NUMBER] <- MARK` };
    // Looked for from each letter on, so that "| 32 |" stands twice in "| 32 | 32 |".
    const [place, ...more] = prose.matchAll(new RegExp(`(?=((${pattern_of(before)})(${pattern_of(number)})${pattern_of(after)}))`, 'g'));
    if (!place || more.length) return { line, message: `"${before}${number}${after}" stands ${place ? more.length + 1 : 0} times in the text, not once` };
    const [, piece, ahead, shown] = place, at = place.index + ahead.length;
    return { mark, shown, at, begin: place.index, end: place.index + piece.length, row, row_at };
  });
}

// What the marks of a text ask for, but for its blocks.
export const asked = (text) => [...[...text.matchAll(span)].map((m) => m[1]), ...listed(text).map(({ mark }) => mark ?? '')];
