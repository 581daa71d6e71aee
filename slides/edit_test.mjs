// Parts of the labs and of their editor that need no browser: what changed, the nearest kernel, whose result is shown, and a link
// that carries a text.
//
//   node slides/edit_test.mjs
import assert from 'node:assert/strict';
import { exercises, with_exercise } from './book/exercise_pages.mjs';
import { alike, aligned } from './book/theme/align.js';
import { arch_of, changes, distance, nearest, type_of } from './book/theme/edit.js';
import { pack, unpack } from './book/theme/edit_link.js';
import { change_of, heat_of, in_page, metric_words, signed, whose_of } from './book/theme/lab.js';
import { element_of } from './book/theme/race.js';
import { standing_of } from './book/theme/watched.js';
import { read } from './project.mjs';

const text = 'a\nb\nc\nd\n';

// What the other text has in place of lines of text.
const edits = [
  [text, []],
  ['a\nx\nc\nd\n', [{ at: 2, fresh: 1, old: ['b'] }]],
  ['x\na\nb\nc\nd\n', [{ at: 1, fresh: 1, old: [] }]],
  ['a\nb\n', [{ at: 3, fresh: 0, old: ['c', 'd'] }]],
  ['a\nb\nc\nd\ne\nf\n', [{ at: 5, fresh: 2, old: [] }]],
  ['p\nq\n', [{ at: 1, fresh: 2, old: ['a', 'b', 'c', 'd'] }]],
  ['b\nb\nc\nd\ny\n', [{ at: 1, fresh: 0, old: ['a'] }, { at: 2, fresh: 1, old: [] }, { at: 5, fresh: 1, old: [] }]],
];
for (const [after, wanted] of edits) assert.deepEqual(changes(text, after), wanted, JSON.stringify(after));

// Lines of two texts are compared where these are much the same.
assert(alike(text, text.replace('b', 'x')) && alike('int i;\n  j = 1;\n}', 'int i;\nj = 1;\n\n}'));
assert(!alike('int i;\nj = 1;\nk = 2;', 'int l;\nm = 1;\nk = 2;') && !alike('int i;', 'int i;\nj = 1;\nk = 2;'));
assert.deepEqual(aligned(text, 'a\nx\nb\n').slice(1), [1, , 2]);

assert.equal(distance(text, 'a\nx\ny\nd\n'), 2);
assert.deepEqual(nearest('a\nx\nc\nd\n', [['far', 'p\nq\n'], ['near', text], ['as near', text]]), { name: 'near', differ: 1 });
assert.equal(arch_of('.version 8.0\n.target sm_90a\n'), 'sm_90a');

assert.deepEqual(['.f32 gemm_param_3', '.f64 gemm_param_3', '.f64 gemm_param_6'].map((param) => type_of(`\t.param ${param},\n`, 2)), [2, 1, 2]);

// Whose result is shown: the run, its source, and the text of the open editor.
const step = '01_naive', edited = { kernel: step, edited: {} }, variant = { kernel: '01_swapped', words: 'swapped' };
for (const [run, open, wanted] of [
  [{ kernel: step }, null, "of the course's kernel"],
  [{ kernel: step }, text, "of the course's kernel"],
  [{ kernel: step }, 'b', "of the course's kernel, not of the text in the editor"],
  [variant, null, 'of the variant “swapped”'],
  [edited, text, 'of the edited text'],
  [edited, null, 'of the edited text'],
  [edited, 'b', 'of the edited text as it ran last, and not as it is now'],
]) assert.equal(whose_of({ result: { run }, source: text }, step, open), wanted);

// Each counter of the simulated GPU has words.
const words = metric_words(read('slides/metrics.txt')), counters = [...read('common/base/profile.h').matchAll(/ X\(\w+, "([^"]+)"/g)].map(([, name]) => name);
assert(counters.length > 30);
assert.deepEqual(counters.filter((name) => !words[name]), []);

// Two right runs of one size are compared, others are not. On the bench, which knows no C, no finding is right enough.
const ran = (m, count, verdict = 'right', findings = []) => ({ run: { m, n: 8, k: 8 }, verdict, findings, metrics: { 'smsp__inst_executed.sum': count } });
const race = [{ level: 'error', id: 'RACE' }], advice = [{ level: 'advice', id: 'UNCOALESCED' }];
for (const [is, was, wanted] of [
  [ran(8, 5), ran(8, 7, 'right', advice), { is: 5, was: 7 }],
  [ran(8, 5, 'ran'), ran(8, 7, 'ran'), { is: 5, was: 7 }],
  [ran(8, 5, 'wrong'), ran(8, 7), { is: 5, wrong: 'this run' }],
  [ran(8, 5, 'right', race), ran(8, 7), { is: 5, wrong: 'this run' }],
  [ran(8, 5), ran(8, 7, 'ran', race), { is: 5, wrong: 'the run before' }],
]) assert.deepEqual(change_of('instructions', is, was), wanted);
assert.equal(heat_of('waves', { result: ran(8, 5), before: null }), 'instructions');
for (const before of [null, ran(16, 7), { run: ran(8, 7).run }]) assert.equal(change_of('instructions', ran(8, 5), before), null);
assert.deepEqual([640, -1280].map(signed), ['+640', '−1,280']);
assert.equal(in_page('the first execution of --nth 2'), 'the first execution of access 2');

// In the page the page's own way comes first.
for (const { name } of exercises()) {
  const page = with_exercise({ url: `exercises/${name}` }, read(`exercises/${name}/TASK.md`), { version: '1', compiler: {} });
  assert.match(page, /^The file to edit opens \[on this page\]\(#write-it\)[^]*^## Check\n\nThe button Check \[on this page\]\(#write-it\)[^]*^build\/course check \d+b?\n/m, name);
}

const at = (barrier) => ({ ended: false, groups: [{ lanes: -1, line: 44, standing: 'barrier', barrier }] });
assert.deepEqual(standing_of([at(0), at(0), at(1)]).map(({ warps, text: words }) => `${warps} ${words}`),
  ['0 to 1 at __syncthreads (barrier 0), line 44', '2 at barrier 1, line 44']);

// The element that a byte of shared memory belongs to, where the source says how its array is laid out.
const tiles = 'constexpr int BM = 4, BK = 2 * BM;\n__shared__ float As[2][BM][BK], Bs[N];\nextern __shared__ half raw[];\n';
const element = (name, byte, bytes = 256) => element_of(tiles, { space: 'shared', name, at: byte, bytes });
assert.deepEqual([element('As', 4 * (32 + 8 + 3)), element('As', 0), element('As', 256), element('Bs', 0), element('raw', 0), element('Cs', 0), element('As', 0, 192)],
  ['As[1][1][3]', 'As[0][0][0]', null, null, null, null, null]);

// There and back; damaged, too long, and of something else.
const kernel = read('steps/12_mma_swizzle/kernel.cu'), value = { text: `${kernel}// \u00fc \u{1f600}`, m: 128, beta: -0.5 }, link = await pack(value);
assert.deepEqual(await unpack(link), value);
assert(link.length < 0.7 * kernel.length, 'a link is not compressed');
assert(/^#edit=[\w-]+$/.test(link), 'a link has letters that an address cannot have');
assert.equal(await unpack('#run-it'), null);
for (const damaged of [link.slice(0, -9), '#edit=', '#edit=%%', link.slice(0, 20) + link.slice(21), await pack({ m: 1 }), await pack({ text: 'x'.repeat(2 << 20) })])
  await assert.rejects(unpack(damaged), damaged.slice(0, 20));
console.log(`${edits.length} edits, links of ${kernel.length} characters in ${link.length}`);
