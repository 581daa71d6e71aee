#!/usr/bin/env node
// The marks themselves: what each becomes, and that a changed source, a bad mark and a number without one are noticed.
// refresh.mjs runs on a copy of the project, in which the tests change things; the build is the real one.
//
//   node slides/test_marks.mjs [--build DIR]
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { terms_plugin } from './book/terms.mjs';
import { lengths, too_long } from './lengths.mjs';
import { wrong_links } from './links.mjs';
import { asked, written_out } from './places.mjs';
import { root } from './project.mjs';
import { brief, sample } from './sample.mjs';
import { by_another_ptxas } from './sources.mjs';
import { texts } from './texts.mjs';
import { unmeant_lists, wrong_sums } from './unmarked.mjs';

const at = process.argv.indexOf('--build'), build = resolve(at < 0 ? join(root, 'build') : process.argv[at + 1]);
const copy = mkdtempSync(join(tmpdir(), 'marks-')), text = join(copy, 'text.md');
const results = join(copy, 'steps', 'results');

let whole_copy = false;  // what lies in it is the project's; a text of a test's own may lie beside it

beforeEach(() => {
  if (whole_copy) return;
  rmSync(copy, { recursive: true });
  for (const folder of ['steps', 'slides', 'exercises', 'common', 'tests/truth', 'README.md'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true, filter: (path) => !/node_modules|\/build/.test(path) });
  whole_copy = true;
});
after(() => rmSync(copy, { recursive: true }));

function refresh_with(build, ...args) {
  const run = spawnSync(process.execPath, [join(copy, 'slides', 'refresh.mjs'), '--build', build, ...args],
    { encoding: 'utf8', cwd: copy, env: { ...process.env, GEMM_STEPS_TESTS: '' } });  // every text, in each setup
  return { status: run.status, lines: run.stderr.split('\n').filter(Boolean), out: run.stdout };
}

const refresh = (...args) => refresh_with(build, ...args);

const mark = (what, shown = '') => `<span data-value="${what}">${shown}</span>`;
const shown = () => [...readFileSync(text, 'utf8').matchAll(/">([^<]*)</g)].map((m) => m[1]);

function put(path, made) {
  whole_copy = false;
  writeFileSync(path, made);
}

function change(path, from, to) {
  const old = readFileSync(path, 'utf8');
  assert(old.includes(from), `${path} has no "${from}"`);
  put(path, old.replaceAll(from, to));
}

// The build with one PTX file of its slides changed; the rest of it are links.
function build_with(file, from, to) {
  const other = join(copy, 'build'), made = join(build, 'slides');
  mkdirSync(join(other, 'slides'), { recursive: true });
  for (const name of readdirSync(build)) if (name !== 'slides') symlinkSync(join(build, name), join(other, name));
  for (const name of readdirSync(made)) if (name.endsWith('.ptx')) cpSync(join(made, name), join(other, 'slides', name));
  change(join(other, 'slides', file), from, to);
  return other;
}

// The newest table of times, of counters, ...
const table = (pattern) => join(results, readdirSync(results).filter((name) => pattern.test(name)).sort().at(-1));

test('numbers are written as printf and the chapters write them', () => {
  const cases = { 'exp 51.25 .1': '51.2', 'exp 51.35 .1': '51.4', 'exp 64 / 132 % .0': '48 %', 'exp 64 / 132 %': '48.5 %',
    'exp 1234567': '1,234,567', 'exp 2 ** 10': '1,024', 'exp 1234.5 .2': '1,234.50', 'exp 1 / 3': '0.3333',
    'exp ceil(5 / 2) + max(1, 2)': '5', 'exp [exp 3 * 2] / [exp 4] .1': '1.5', 'exp 7 % 4 * 1': '3', 'exp 0 - 3.2': '-3.2',
    'calc 04 BM * BN / THREADS': '64', "line 04 'constexpr int BM'": '5', 'exp\n 1 +\n 2': '3' };
  writeFileSync(text, Object.keys(cases).map((what) => mark(what)).join('\n'));
  assert.deepEqual(refresh('text.md').lines, []);
  assert.deepEqual(shown(), Object.values(cases));
});

test('a mark quotes its table, and short names are those of steps', () => {
  const all = ['tflops 12 4096', 'tflops 12_mma_swizzle 4096', 'cublas 02_double 4096', 'share 12 4096 .0', 'time 07 1024',
    'trial 12-plain', 'trial 12-stores', 'trial 12-stores high', 'bound 12-wavefronts', 'stall 07 barrier', 'ncu 07 fma',
    'ncu 12 clock', 'ncu 05 waves_st', 'cell guards 12 cost_percent', 'registers 07', 'picture 07_cycles.svg cycles',
    "picture 07_cycles.svg 'f32 pipe'", "picture 06_cycles.svg 'long_scoreboard: global'", 'worth 02_rows 4096', 'worth 02 02_rows 4096'];
  writeFileSync(text, all.map((what) => mark(what)).join('\n'));
  assert.deepEqual(refresh('text.md').lines, []);
  const now = shown(), trials = readFileSync(join(results, 'h200_trials.csv'), 'utf8');
  assert.equal(now[0], now[1]);
  const forms = [/^\d+\.\d$/, /^\d+\.\d$/, /^\d\d\.\d$/, /^\d\d %$/, /^\d\d\.\d us$/, /^\d+\.\d$/, /^\d+ to \d+$/, /^\d+$/, /^\d+$/,
    /^0\.\d\d$/, /^\d\d %$/, /^1\.\d\d GHz$/, /^\d+,\d{3}$/, /^\d\.\d$/, /^\d+$/, /^\d,\d{3}$/, /^\d\d %$/, /^\d\d %$/,
    /^\d\d\.\d$/, /^\d\.\d\d$/];
  forms.forEach((form, i) => assert.match(now[i], form, all[i]));
  assert(trials.includes(`\n12-plain,NVIDIA H200,12_mma_swizzle,f16,4096,${now[5]},`));
});

test('a table of what variants are worth compares with its first row, and says what spills', () => {
  writeFileSync(text, '<!-- table: worth 4096 02="the step" 02_rows="rows alone" -->\n');
  assert.deepEqual(refresh('text.md').lines, []);
  const made = readFileSync(text, 'utf8');
  assert.match(made, /\| the step \| 9\.\d\d \| - \|/);
  assert.match(made, /\| rows alone \(spills \d+ bytes\) \| 20\.\d \| x 2\.\d\d \|/);
});

test('a table of the parts of a step multiplies to its gain', () => {
  writeFileSync(text, '<!-- table: parts 06 -->\n');
  assert.deepEqual(refresh('text.md').lines, []);
  const made = readFileSync(text, 'utf8'), total = Number(made.match(/\| parts of x (\d\.\d\d) \|/)[1]);
  const shares = [...made.matchAll(/^\| [^|]+ \| ([+-][\d.]+) % \|/gm)].map((m) => 1 + Number(m[1]) / 100);
  assert(shares.length > 1);
  assert(Math.abs(shares.reduce((a, b) => a * b) / total - 1) < 0.01, made);
  writeFileSync(text, '<!-- table: parts 08 -->\n');
  assert.match(refresh('text.md').lines.join(), /08_wmma has no step before it/);
});

test('a changed table names each place that quotes it, and refresh mends it', () => {
  const rows = [[/_counters\.csv$/, '05_vectorized,smsp__inst_executed.sum,', 'ncu 05 inst'], [/trials/, '12-plain,', 'trial 12-plain'],
    [/guards/, 'NVIDIA H200,12_mma_swizzle,', 'cell guards 12 with'], [/_stalls/, '07_double_buffer,smsp__average_warps_issue_stalled_barrier', 'stall 07 barrier']];
  const whats = ['tflops 12 4096', 'share 12 4096', ...rows.map(([, , what]) => what)];
  writeFileSync(text, `first\n${whats.map((what) => mark(what)).join('\n')}\n\n<!-- ladder: 4096 -->\n\n<!-- table: times 12 1024 4096 -->\n`);
  refresh('text.md');
  assert.equal(refresh('--check', 'text.md').status, 0);
  const times = table(/^h200_[\d-]+\.csv$/), row = readFileSync(times, 'utf8').match(/.*,4096,12_mma_swizzle,f16,.*/)[0];
  const share = `${(100 * 999.9 / Number(row.split(',').at(-2))).toFixed(1)} %`;  // of cuBLAS, whose rate is the last but one
  change(times, row, row.replace(/(f16,[\d.]+,[\d.]+,[\d.]+),[\d.]+/, '$1,999.9'));
  for (const [pattern, begin] of rows) {
    const path = table(pattern), line = readFileSync(path, 'utf8').split('\n').find((l) => l.startsWith(begin));
    change(path, line, line.replace(/([\d.]+)(?=,,|$)|(?<=4096,)[\d.]+/, '777'));
  }
  const { status, lines } = refresh('--check', 'text.md');
  assert.equal(status, 1);
  const stale = lines.filter((line) => line.startsWith('text.md:'));
  for (const [i, what] of whats.entries())
    assert.equal(stale.filter((line) => line.startsWith(`text.md:${i + 2} `) && ['777', '999.9', share].some((value) => line.split(' -> ')[1]?.includes(value))).length, 1, `${what}: ${lines}`);
  assert.equal(stale.length, whats.length + 2, lines.join('\n'));  // and a line of the ladder, and of the table
  refresh('text.md');
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
});

// Without those that ask for a kernel or a program that is not built: the steps for Hopper may be left out.
function refreshable(names) {
  const wrong = refresh('--check', ...names).lines.filter((line) => !line.includes(' -> '));  // which stale ones have
  return names.filter((name) => !wrong.some((line) => line.startsWith(`${name}:`)));
}

const whole = existsSync(join(build, 'steps', '14_tma', '14_tma.ptx'));

test('a row of trials that changes is named in every text of the course that has it', () => {
  const path = join(results, 'h200_trials.csv'), lines = readFileSync(path, 'utf8').trim().split('\n');
  const changed = lines.map((line, i) => (i ? line.replace(/^((?:[^,]*,){5})[^,]*,([^,]*)/, (_, before, max) => `${before}0.12345,${max && '0.12345'}`) : line)).join('\n');
  let wanted = 0;
  const marks_of = (name) => asked(readFileSync(join(copy, name), 'utf8')).filter((what) => /^trial /.test(what)).length;
  const all = sample(texts().filter(marks_of), 12), names = whole ? all : refreshable(all);
  for (const name of names) wanted += marks_of(name);
  put(path, `${changed}\n`);
  assert(names.length > 0);
  const { status, lines: said } = refresh('--check', ...names);
  assert.equal(status, 1);
  const named = said.filter((line) => / -> 0\.1(2345)?\b/.test(line));  // some texts show one digit
  assert(named.length >= wanted, `${wanted} marks, ${said.join('\n')}`);
});

test('a changed kernel makes code, differences, constants and lines stale', () => {
  writeFileSync(text, `<!-- code: 04 "constexpr int BM" -->\n\n<!-- diff: 04 05 "+constexpr int PAD" -->\n\n${mark('calc 05 PAD')} ${mark("line 05 'constexpr int TM'")} ${mark('lines 04 05')}\n`);
  refresh('text.md');
  change(join(copy, 'steps/05_vectorized/kernel.cu'), 'constexpr int PAD = 4;', '// one line more\nconstexpr int PAD = 5;');
  change(join(copy, 'steps/04_thread_tile_2d/kernel.cu'), 'constexpr int BM = 128', 'constexpr int BM = 256');
  const other = build_with('steps_05_vectorized_kernel.ptx', 'constant_PAD = 4', 'constant_PAD = 6');
  const { lines } = refresh_with(other, '--check', 'text.md');
  for (const said of ['BM = 256', 'PAD = 5', '4 -> 6', 'lines come']) assert(lines.some((line) => line.includes(said)), `${said}: ${lines.join('\n')}`);
});

test('a program prints what it prints today', () => {
  writeFileSync(text, '<!-- output: build/01_naive --describe : "{" -->\n```text\n```\n');
  assert.match(refresh('--check', 'text.md').lines[0], /^text\.md:3 ``` -> \{/);
  refresh('text.md');
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
});

test('what the clock says is compared under the ptxas that made it, and stays under another one', (t) => {
  if (by_another_ptxas(build, { args: ['01_naive', '--card'] })) return t.skip('the table is not of the compiler that made these kernels');
  const table = join(results, 'sm_90_ptxas.csv'), old = readFileSync(table, 'utf8');
  const asked = 'build/01_naive --device=sim --size 64 --predict --predict-size 1024';
  writeFileSync(text, `<!-- output: ${asked} : "bound by" -->\n\`\`\`text\n  bound by nothing\n\`\`\`\n`);
  const { lines } = refresh('--check', 'text.md');
  put(table, old.replace(/^01_naive,[\d.]+/m, '01_naive,9.9'));
  assert.notEqual(readFileSync(table, 'utf8'), old);
  const later = refresh('--check', 'text.md');
  assert.match(lines[0], /bound by nothing -> {3}bound by/);
  assert.deepEqual(later.lines, []);
});

test('a bad mark is one clear line with its place', () => {
  const bad = { 'tflop 12 4096': 'there are no values of the kind "tflop"', 'tflops 55 4096': '0 steps begin with 55',
    'tflops 12 4097': 'has no 12_mma_swizzle at 4097', 'trial 12-none': '0 rows are "12-none"', 'stall 07 boredom': 'is no reason to wait',
    'count 07 nothing': 'metrics.txt has no nothing', 'exp 1 +': 'is no formula', 'exp [tflops 12] + 1': 'has no', 'exp process.exit()': 'unknown',
    'calc 07 LDA': 'LDA is unknown', 'cell guards 12 price': 'no column "price"', 'cell none 12 x': 'no table of none',
    'cell guards 4096 with': 'rows are', 'date 12 4096 .1': 'is no number', "line 04 'nothing'": '0 lines begin with', 'registers 77': '0 steps',
    'worth nothing 4096': '0 rows are', 'worth 02 03 17': '0 rows are' };
  const blocks = { 'output: ls': 'is no program of build', 'output: build/none': 'missing', 'ladder: 17': 'no times at 17', 'table: none': 'no tables of',
    'code: 04 "nothing"': '0 lines begin', 'table: ncu 04': 'missing' };
  writeFileSync(text, `${Object.keys(bad).map((what) => mark(what)).join('\n')}\n<span data-value='exp 1'>1</span>\n` +
    Object.keys(blocks).map((what) => `\n<!-- ${what} -->\n`).join(''));
  const { status, lines } = refresh('--check', 'text.md'), behind = Object.keys(bad).length + 1;
  assert.equal(status, 2);
  const wanted = [...Object.values(bad).map((said, i) => [i + 1, said]), [behind, 'this mark is not'],
    ...Object.values(blocks).map((said, i) => [behind + 2 + 2 * i, said])];
  assert.equal(lines.length, wanted.length, lines.join('\n'));
  for (const [line, said] of wanted)
    assert.equal(lines.filter((l) => l.startsWith(`text.md:${line} `) && l.includes(said)).length, 1, `${line}, ${said}: ${lines.join('\n')}`);
});

test('a row of trials or bounds that no text quotes is named', { skip: brief && 'waits for meson test' }, () => {
  const ids = (name) => readFileSync(join(results, name), 'utf8').trim().split('\n').slice(1).map((line) => line.split(',')[0]);
  const kinds = [['trial', 'h200_trials.csv'], ['bound', 'h200_bounds.csv']];
  const all = kinds.flatMap(([kind, name]) => ids(name).map((id) => mark(`${kind} ${id}`, '1')));
  const left_out = ['trial 05-orders', 'bound 06-fma'];
  for (const name of texts()) rmSync(join(copy, name));
  for (const marks of [all, all.filter((one) => !left_out.some((what) => one.includes(`"${what}"`)))]) {
    put(join(copy, 'steps', '07_double_buffer', 'NOTES.md'), marks.join('\n'));
    const said = refresh('--check').lines.filter((line) => line.includes('is in no text'));
    assert.equal(said.length, all.length - marks.length, said.join('\n'));
    if (marks !== all) for (const what of left_out) assert(said.some((line) => line.includes(`"${what.split(' ')[1]}"`)), what);
  }
});

test('a number that looks like a result needs a mark', () => {
  const found = ['It has 52.0 of them.', 'It is 12 % more.', 'In all 1,234 times.', 'At 52 TFLOP/s.', 'In 317 us.', 'It takes 40 cycles.',
    '| a | 0.5 |', 'x 1.13', 'It has 320 wavefronts.', 'Of 7.95', 'See line 51.', 'at 1.76\nGHz'];
  const free = ['8 x 8 tiles of 128 x 256 at 4096, and 4095.', '`52.0`', 'CUDA 13.0, driver 580.159.04', 'capability 8.6, 8.9 and 9.0',
    '[text](https://x.org/1.25)', '4 wavefronts', '<a id="1.5"></a>', 'sm_90', '```\n52.0 %\n```', '<!-- 52.0 -->', 'step 07, 2 x 132 places'];
  for (const one of found) {
    writeFileSync(text, `${mark('exp 1', '1')}\n${one}\n`);
    const { status, lines } = refresh('--check', 'text.md');
    assert.equal(status, 2, one);
    assert.match(lines[0], /^text\.md:2 ".*" comes from nowhere/, one);
    assert.equal(lines.length, 1, one);
  }
  writeFileSync(text, `${mark('exp 1', '1')}\n${free.join('\n\n')}\n`);
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
});

const numbers = (...rows) => `\n<!-- numbers\n${rows.join('\n')}\n-->\n`;

test('numbers that a text lists at its end are held without marks in its prose', () => {
  const prose = 'It has 0.5\nof them, eight of 12.\n\n| a | 7 % |\n', rows = ['has [0.5] of <- exp 1 / 2', '[eight] of <- exp 2 ** 3',
    'eight of [12]. <- exp 3 * 4', '| a | [7 %] | <- exp 7 / 100 % .0'];
  writeFileSync(text, prose + numbers(...rows));
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
  writeFileSync(text, prose + numbers(...rows).replace('1 / 2', '1 / 4').replace('2 ** 3', '3 ** 2'));
  const { status, lines } = refresh('--check', 'text.md');
  assert.equal(status, 1);
  assert.deepEqual(lines.slice(0, 2), ['text.md:1 0.5 -> 0.25', 'text.md:2 eight -> 9']);
  refresh('text.md');
  assert.match(readFileSync(text, 'utf8'), /^It has 0\.25\nof them, 9 of 12\.[^]*has \[0\.25\] of <- [^]*\n\[9\] of <- [^]*\n9 of \[12\]\. <- /);
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
});

test('a row of the list that is none, or whose words are not in the text once, is named', () => {
  const bad = { 'of [them] <- ': 'is no row', 'no number <- exp 1': 'is no row', 'not [0.5] there <- exp 1 / 2': 'stands 0 times',
    '[word] <- exp 1': 'stands 2 times', 'o [oo] o <- exp 1': 'stands 2 times', 'word, [o] --> <- exp 1': 'is no row', 'has [0.5] <- exp nothing': 'nothing is unknown' };
  writeFileSync(text, `It has 0.5 of a word, a word, o oo o oo o.\n${numbers(...Object.keys(bad))}`);
  const { status, lines } = refresh('--check', 'text.md');
  assert.equal(status, 2);
  Object.values(bad).forEach((said, i) =>
    assert.equal(lines.filter((line) => line.startsWith(`text.md:${i + 4} `) && line.includes(said)).length, 1, `${said}: ${lines.join('\n')}`));
});

test('a long mark of a block stands in the list, and has its name in the text', () => {
  const long = 'worth 4096 02="the step" 02_rows="rows alone"', named = `<!-- table: rows -->\n${numbers(`table rows <- ${long}`)}`;
  writeFileSync(text, `<!-- table: ${long} -->\n`);
  refresh('text.md');
  const table_of = (made) => made.match(/\n\|[^]*\|(?=\n)/)[0], full = table_of(readFileSync(text, 'utf8'));
  writeFileSync(text, named);
  refresh('text.md');
  assert.equal(table_of(readFileSync(text, 'utf8')), full);
  assert.match(readFileSync(text, 'utf8'), /^<!-- table: rows -->\n\|/);
  assert.deepEqual(refresh('--check', 'text.md').lines, []);
  assert.equal(written_out(named).trimEnd(), `<!-- table: ${long} -->`);
  writeFileSync(text, named.replace('table: rows', 'table: row'));
  assert.match(refresh('--check', 'text.md').lines.join('\n'), /text\.md:4 "table rows <- .*" is of no block of the text/);
});

test('a lesson that is too long, or has too much markup, is named', () => {
  const lesson = 'steps/05_vectorized/NOTES.md', page = `<b>One</b> two [three](there.md), 4 = 4.\n\n\`\`\`c\nno words\n\`\`\`\n${numbers('[4] = <- exp 4')}`;
  assert.equal(lengths(page).words, 5);
  assert(Math.abs(lengths(page).markup - (100 * 18) / 62) < 1e-9, `${lengths(page).markup}`);
  assert.deepEqual(too_long(lesson, `${'word '.repeat(1500)}`), []);
  assert.deepEqual(too_long(lesson, `${'word '.repeat(1501)}`).map(({ message }) => message), ['1501 words, and 1500 are the limit']);
  assert.match(too_long(lesson, page)[0].message, /^29\.0 % of it is markup/);
  assert.deepEqual(too_long('steps/05_vectorized/LAB.md', page), []);
});

test('a sum between backquotes adds up', () => {
  assert.deepEqual(wrong_sums('`4 x 2 = 8`, `1,024 / 4 = 256`, `5 ^ 1 = 4`, `1 / 3 = 0.33`, `a = 4`, `lane / 4`'), []);
  assert.deepEqual(wrong_sums('so\n`4 x 2 = 9`').map(({ line }) => line), [2]);
});

test('a line within a paragraph does not begin with a sign, which would make it a list', () => {
  for (const one of ['and 1\n+ 2 is 3', 'so 3\n- 2 is 1', 'Two:\n* one'])
    assert.deepEqual(unmeant_lists(`${one}\n`).map(({ line }) => line), [2], one);
  assert.deepEqual(unmeant_lists('Two:\n\n- one\n- two, which\n  goes on\n- three\n\n```\na\n+ b\n```\n\n1 +\n2\n'), []);
  writeFileSync(text, 'and 1\n+ 2 is 3\n');
  const { status, lines } = refresh('--check', 'text.md');
  assert.equal(status, 2);
  assert.match(lines[0], /^text\.md:2 "\+ 2 is 3" begins a list/);
});

test('a link leads to a file, and to a heading where it names one', () => {
  const folder = join(copy, 'links');
  mkdirSync(join(folder, 'deep'), { recursive: true });
  writeFileSync(join(folder, 'deep', 'b.md'), '# A `word`, [twice](../a.md)\n\n## Same\n\n## Same\n\n<a id="own"></a>\n\n```\n# no heading\n```\n');
  const good = ['deep', 'deep/b.md', 'deep/b.md#a-word-twice', 'deep/b.md#same-1', 'deep/b.md#own', '#here', 'https://x.org/y'];
  const bad = ['deep/c.md', 'b.md', 'deep/b.md#same-2', 'deep/b.md#no-heading', 'deep#same', '#there'];
  const text = (urls) => `# Here\n\n${urls.map((url) => `[\`it\`](${url})`).join(', ')} \`[code](none)\`\n`;
  writeFileSync(join(folder, 'a.md'), text([...good, ...bad]));
  assert.deepEqual(wrong_links(folder), bad.map((url) => `a.md: ${url} leads nowhere`));
});

// The text of a page of the book with its links to the glossary as [word](place). A blank line ends a paragraph.
function with_terms(text, url) {
  const glossary = '### warp\n\n32 threads.\n\n### shared memory\n\n### conflict\n\nAlso: bank conflict, `ld.v4`\n\n### FLOP\n';
  let rule;
  terms_plugin({ core: { ruler: { after: (_, __, made) => (rule = made) } } }, { pages: [{ url: 'chapters/glossary', text: () => glossary }] });
  const token = (type, fields = {}) => ({ type, attrGet: () => null, ...fields });
  const piece = (part) => (part.startsWith('`') ? token('code_inline', { content: part }) : token('text', { content: part }));
  const tokens = text.split('\n\n').flatMap((line) => [token(line.startsWith('#') ? 'heading_open' : 'paragraph_open'),
    token('inline', { children: line.split(/(`[^`]*`)/).map(piece) })]);
  rule({ tokens, env: { relativePath: `${url}.md` }, Token: function Token(type) { this.type = type; } });
  const shown = (part) => ({ link_open: '[', link_close: ']' })[part.type] ?? part.content;
  return tokens.filter(({ type }) => type === 'inline').map(({ children }) => children.map(shown).join('')).join('\n\n');
}

test('the first use of a word of the glossary on a page of the book leads to it', () => {
  const text = '# A warp\n\nThe `warp`, Warps and warps in shared memory, whose bank conflicts\n\nare conflicts: wrapped, warp-wide, out of FLOP, 2 FLOP, flop.';
  assert.equal(with_terms(text, 'chapters/04_x'),
    '# A warp\n\nThe `warp`, [Warps] and warps in [shared memory], whose [bank conflicts]\n\nare conflicts: wrapped, warp-wide, out of FLOP, 2 [FLOP], flop.');
  assert.equal(with_terms(text, 'start'), text);
  assert.equal(with_terms(text, 'chapters/glossary'), text);
});
