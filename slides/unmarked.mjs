// Numbers that look like results, and stand in a text without a mark: nobody would notice when they are wrong.
import { blank, line_at, listed, marks } from './places.mjs';
import { is_deck } from './texts.mjs';

// Versions are none: "CUDA 13.0", "driver 580.159.04", "compute capability 8.6, 8.9 and 9.0", "section 9.7.13".
const names = 'CUDA|driver|cuBLAS|ISA|Node|Debian|Ubuntu|Meson|nvcc|ptxas|toolkit|version|release|capabilit(?:y|ies)|[Ss]ections?';
const versions = new RegExp(`\\b(?:${names})\\s+\\d+(?:\\.\\d+)+(?:(?:,|,? and|,? or| to)\\s+\\d+(?:\\.\\d+)+)*`, 'g');

const units = 'TFLOP/s|GFLOP/s|[TGM]B/s|GHz|MHz|ms\\b|us\\b|ns\\b|times as';
const nouns = '(?:bank\\s+)?(?:wavefronts|conflicts|sectors|requests|instructions|registers)';
const results = [
  `\\d[\\d.,]*\\s*%`,             // 12 %
  `\\b\\d+\\.\\d+`,               // 1.2
  `\\b\\d{1,3}(?:,\\d{3})+\\b`,   // 1,234
  `\\b\\d+\\s+(?:${units})`,
  `\\b\\d{2,}\\s+cycles`,
  `\\b[Ll]ines?\\s+\\d+`,        // of a kernel: the mark finds it by its text
];
const prose = new RegExp([...results, `(?<!/ )\\b\\d{3,}\\s+${nouns}`].join('|'), 'g');
const deck = new RegExp([...results, `\\b\\d{2,}\\s+(?:${nouns}|lines come)`].join('|'), 'g');

// A list of { line, message }. Comments are left out, but not a deck's notes.
export function unmarked(name, text) {
  const without = listed(text).reduce((left, { at, shown }) =>
    (shown ? left.slice(0, at) + blank(shown) + left.slice(at + shown.length) : left), text);
  const seen = is_deck(name) ? without.replace(/^<!--\n([^]*?)\n-->$/gm, '    \n$1\n') : without;
  const gone = [marks.block, /```[^]*?\n```/g, marks.span, /<!--[^]*?-->/g, /`[^`]*`/g, /\]\([^)]*\)/g, /<[^>]*>/g, /https?:\S+/g, versions];
  const bare = gone.reduce((left, pattern) => left.replace(pattern, blank), seen);
  return [...bare.matchAll(is_deck(name) ? deck : prose)].map((m) => ({
    line: bare.slice(0, m.index).split('\n').length,
    message: `"${m[0].replace(/\s+/g, ' ')}" comes from nowhere; see slides/README.md` }));
}

// A sum that is broken before its sign, or a bullet without a blank line above: Markdown takes such a line for a list.
export function unmeant_lists(text) {
  const lines = [/```[^]*?\n```/g, /<!--[^]*?-->/g].reduce((left, pattern) => left.replace(pattern, blank), text).split('\n');
  const in_paragraph = (line = '') => line.trim() && !/^ *([-+*]|\d+\.) |^ {2,}/.test(line);
  return lines.flatMap((line, i) => (/^ {0,3}[-+*] /.test(line) && in_paragraph(lines[i - 1])
    ? [{ line: i + 1, message: `"${line.trim().slice(0, 20)}" begins a list in the middle of a paragraph` }] : []));
}

// Sums between backquotes that do not add up: `4 x 2 = 9`.
export function wrong_sums(text) {
  return [...text.matchAll(/`([\d.,x+\-*/^() ]+) = ([\d.,]+)`/g)].flatMap((m) => {
    const is = Function(`return ${m[1].replaceAll(',', '').replaceAll('x', '*')}`)(), digits = m[2].split('.')[1]?.length ?? 0;
    return is.toFixed(digits) === m[2].replaceAll(',', '') ? [] : [{ line: line_at(text, m.index), message: `${m[1]} is ${is}, not ${m[2]}` }];
  });
}
