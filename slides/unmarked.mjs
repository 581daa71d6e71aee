// Numbers that look like results, and stand in a text without a mark: nobody would notice when they are wrong.
import { marks } from './marks.mjs';
import { is_deck } from './texts.mjs';

// In a text's place stand blanks, so that lines keep their numbers.
const blank = (text) => text.replace(/[^\n]/g, ' ');

// Versions are none: "CUDA 13.0", "driver 580.159.04", "compute capability 8.6, 8.9 and 9.0", "section 9.7.13".
const names = 'CUDA|driver|cuBLAS|ISA|Node|Debian|Ubuntu|Meson|nvcc|ptxas|toolkit|version|release|capabilit(?:y|ies)|[Ss]ections?';
const versions = new RegExp(`\\b(?:${names})\\s+\\d+(?:\\.\\d+)+(?:(?:,|,? and|,? or| to)\\s+\\d+(?:\\.\\d+)+)*`, 'g');

const units = 'TFLOP/s|GFLOP/s|[TGM]B/s|GHz|MHz|ms\\b|us\\b|ns\\b|cycles|times as';
const nouns = 'wavefronts|conflicts|sectors|requests|instructions|registers';
const prose = new RegExp([
  `\\d[\\d.,]*\\s*%`,                            // 12 %
  `\\b\\d+\\.\\d+`,                              // 1.2
  `\\b\\d{1,3}(?:,\\d{3})+\\b`,                  // 1,234
  `\\b\\d+\\s+(?:${units})`,
  `\\b\\d{3,}\\s+(?:bank\\s+)?(?:${nouns})`,
].join('|'), 'g');
const deck = new RegExp(`\\b(\\d{2,}|\\d+\\.\\d+) (?:bank )?(?:${nouns}|TFLOP/s|ms\\b|us\\b|%|times as|lines come)` +
  `|\\b\\d{1,3}(,\\d{3})+\\b|\\bx \\d+\\.\\d+`, 'g');

// A chapter that has no mark at all was not converted yet: tests/test_figures.c looks at it.
export const converted = (text) => /data-value=|<!-- table:/.test(text);

// A list of { line, message }.
export function unmarked(name, text) {
  if (!is_deck(name) && !converted(text)) return [];
  let bare = text.replace(marks.block, blank).replace(/```[^]*?\n```/g, blank).replace(marks.span, blank);
  if (!is_deck(name))
    bare = bare.replace(/<!--[^]*?-->/g, blank).replace(/`[^`]*`/g, blank).replace(/\]\([^)]*\)/g, blank)
      .replace(/<[^>]*>/g, blank).replace(/https?:\S+/g, blank).replace(versions, blank);
  return [...bare.matchAll(is_deck(name) ? deck : prose)].map((m) => ({
    line: bare.slice(0, m.index).split('\n').length,
    message: `"${m[0].replace(/\s+/g, ' ')}" comes from nowhere; see slides/README.md` }));
}
