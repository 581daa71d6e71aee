// The chart of the ladder's results: the committed picture is what the program draws, every figure of the table stands
// in it as text and as a length, and what cannot be drawn is refused in one line.
//
//   node tests/draw/chart_test.mjs BUILD
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const build = process.argv[2], results = fileURLToPath(new URL('../../steps/results', import.meta.url));
const latest = join(results, readdirSync(results).filter((name) => /^h200_2.*[0-9]\.csv$/.test(name)).sort().at(-1))
  .replace(/\.csv$/, '');
const trials = ['--trials', join(results, 'h200_trials.csv')], counters = ['--counters', `${latest}_counters.csv`];
const folder = mkdtempSync(join(tmpdir(), 'chart-'));
after(() => rmSync(folder, { recursive: true }));

function chart(...args) {
  const { status, stdout, stderr } = spawnSync(join(build, 'chart'), args, { encoding: 'utf8', maxBuffer: 1 << 24 });
  return { status, text: stdout + stderr };
}

// What is drawn is well-formed, not too wide, and needs nothing from elsewhere.
function drawn(...args) {
  const { status, text } = chart(...args), open = [];
  assert.equal(status, 0, text);
  assert.ok(text.startsWith('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ') && text.endsWith('</svg>\n'));
  for (const [, end, name, empty] of text.matchAll(/<(\/?)([a-z]+)(?:[^<>"]|"[^"]*")*?(\/?)>/g))
    if (end) assert.equal(open.pop(), name);
    else if (!empty) open.push(name);
  assert.deepEqual(open, []);
  assert.doesNotMatch(text, /&(?!amp;|lt;|gt;)|[^\x20-\uffff\n]/);
  assert.ok(!text.slice(52).includes('http') && Number(text.match(/ width="(\d+)/)[1]) <= 1200);
  const [style] = text.split('</style>');  // classes of groups are names: a style would reach all that is in the group
  for (const [, name] of text.matchAll(/<g class="([^"]*)"/g)) assert.ok(!style.includes(`.${name} `), name);
  return text;
}

// The README's command.
const draw_latest = (size) => drawn(...trials, '--size', String(size), `${latest}.csv`, ...(size % 256 ? [] : counters));

test('the committed picture is what the program draws', () =>
  assert.ok(draw_latest(4096) === readFileSync(`${latest}.svg`, 'utf8'), "draw it again, with the README's command"));

// The right panels reach further down than the left ones, and the text below these has to end before them: in small
// letters a column has room for 86.
test('what stands below the left bars ends before the right ones', () => {
  const lines = [...draw_latest(4096).matchAll(/<text class="small dim" x="24" y="([\d.]+)"[^>]*>([^<]*)/g)]
    .filter(([, y]) => y >= 100);  // else the second line of the title
  assert.ok(lines.length >= 3);
  for (const [, , words] of lines) assert.ok(Buffer.byteLength(words) <= 86, words);
});

// --- figures ---

const figure = (value) => `>${value.toFixed(value >= 9.995 ? 1 : 2)}</text>`;

// cuBLAS's bar of a type has the median of what its rows say.
function expect_baseline(text, rows) {
  const rates = rows.map((row) => row.baseline_tflops).sort((a, b) => a - b), half = rates.length / 2;
  const median = (rates[Math.ceil(half) - 1] + rates[Math.floor(half)]) / 2;
  const bar = text.indexOf('>cuBLAS', text.indexOf(rows.at(-1).step));
  assert.ok(bar > 0 && text.indexOf(figure(median), bar) > 0, `${rows[0].type} at ${rows[0].m}: ${median}`);
}

// A row of bars: name, length, TFLOP/s, share. Returns pixels a TFLOP/s.
function expect_row(text, row) {
  const lines = text.slice(text.indexOf(`>${row.step}</text>`)).split('\n').slice(0, 4).join('\n');
  const [, width] = lines.match(/<\/text> ?\s*<rect class="[^"]*" x="[\d.]+" y="[\d.]+" width="([\d.]+)"/) ?? [];
  const rate = lines.indexOf(figure(row.tflops));
  const share = lines.indexOf(`>${(100 * row.tflops / row.baseline_tflops).toFixed(1)} %</text>`);
  assert.ok(width && rate > 0 && share > rate, `${row.step} at ${row.m}: ${lines}`);
  return width / row.tflops;
}

test('every figure of the table is a text and a length', () => {
  const table = JSON.parse(execFileSync(join(build, 'table'), [`${latest}.csv`], { encoding: 'utf8' }));
  const rows = table.rows.map((row) => Object.fromEntries(table.columns.map((name, i) =>
    [name, /tflops/.test(name) ? Number(row[i]) : row[i]])));
  assert.ok(rows.length >= 65);
  for (const size of new Set(rows.map((row) => row.m))) {
    const text = draw_latest(size);
    for (const type of ['f32', 'f16', 'f64']) {
      const of_type = rows.filter((row) => row.m === size && row.type === type);
      if (!of_type.length) continue;
      expect_baseline(text, of_type);
      const scales = of_type.map((row) => expect_row(text, row));
      scales.forEach((scale, i) => i && assert.ok(
        Math.abs(scale - scales[i - 1]) <= 0.06 / of_type[i].tflops + 0.02 * scales[i - 1],
        `${of_type[i].step} at ${size}: ${scale} pixels a TFLOP/s, others ${scales[i - 1]}`));
    }
  }
});

// Tiles of BM x BN: 2 M N K FLOP over M N K (1/BM + 1/BN) elements loaded and M N stored.
test('the roofline has each step at its formula', () => {
  const text = draw_latest(4096);
  assert.equal(text.split('<circle').length - 1, 21);
  for (const [step, bm, bn, bytes] of [['02_smem_tile', 32, 32, 4], ['02_smem_tile_double', 32, 32, 8],
    ['03_thread_tile_1d', 64, 64, 4], ['07_double_buffer', 128, 128, 4], ['12_mma_swizzle', 128, 256, 2],
    ['18_tma_store', 128, 256, 2], ['20_any_shape', 64, 64, 2]]) {  // 20: what it takes at 256, where it was counted
    const intensity = Number((2 / (bytes * (1 / bm + 1 / bn + 1 / 4096))).toPrecision(3));
    assert.match(text, new RegExp(`<title>${step}: [\\d.,]+ TFLOP/s, ${intensity} FLOP a byte</title>`));
  }
  for (const words of ['>20_any_shape has small tiles at 256 x 256 x 256', 'multiply-adds, f32: 66.9<',  // 132 x 128 x 2 x 1.98
    'tensor cores, f16: 1,071<', 'L1 caches, 33 TB/s<', "the card's memory, 4.8 TB/s<"])
    assert.ok(text.includes(words), words);
});

test('the numbers of the points lie in the frame', () => {
  const text = draw_latest(4096), roofline = text.slice(text.lastIndexOf('class="frame"'));
  const number = (name, of) => Number(of.match(new RegExp(` ${name}="([\\d.]+)"`))[1]);
  const top = number('y', roofline), height = number('height', roofline);
  const points = roofline.split('<g class="point">').slice(1);
  assert.equal(points.length, 21);
  for (const point of points) {
    const y = number('y', point.slice(point.indexOf('<text')));
    assert.ok(y > top + 8 && y < top + height, `${y} is not within ${top} and ${height}`);
  }
});

// --- tables of a learner's own ---

function table_of(...rows) {
  const path = join(folder, 'table.csv');
  writeFileSync(path, 'date,device,detail,baseline,l2,runs,m,n,k,step,type,ms,ms_min,ms_max,tflops,baseline_tflops,' +
    `baseline_after_tflops\n${rows.join('')}`);
  return path;
}

const t4 = '2026-01-02,"Tesla T4","sm_75, 40 SMs up to 1590 MHz","",warm,15,512,512,512,';
const other = '2026-01-02,"A & B <card>","sm_75, 40 SMs up to 1590 MHz","",warm,15,512,512,512,';

test('a table without cuBLAS, of a slower card, and measured twice', () => {
  const text = drawn('--size', '512', ...counters, ...trials,
    table_of(`${t4}01_naive,f32,1,1,1,0.4,,\n`, `${t4}my_own,f32,1,1,1,2.5,,\n`, `${t4}01_naive,f32,1,1,1,0.32,,\n`));
  for (const words of ['>0.32</text>', 'multiply-adds, f32: 8.14<', '<title>01_naive: 0.32 TFLOP/s, 0.399 FLOP a byte',
    'my_own is not drawn: the table of counters has no bytes of it', '>0.1</text>'])  // the axis goes down to it
    assert.ok(text.includes(words), words);
  for (const words of ['>0.40</text>', 'cuBLAS', 'trial:']) assert.ok(!text.includes(words), words);  // of another card
});

test('a card that is not known has no ceilings', () => {
  const text = drawn('--size', '512', table_of(`${other}01_naive,f32,1,1,1,0.4,,\n`));
  assert.ok(text.includes('A &amp; B &lt;card&gt;') && text.includes('not in the table of common/base/card.def'));
  assert.ok(!text.includes('class="limit"'));
});

// --- refusals ---

function expect_refused({ status, text }, says) {
  assert.equal(status, 2, text);
  assert.ok(/^chart: .*\n$/.test(text) && text.includes(says), `${says}: ${text}`);
}

test('bad usage ends in one line and status 2', () => {
  for (const [says, ...args] of [
    ['one table of results is needed'],
    ['one table of results is needed', 'a', 'b'],
    ['/nowhere.csv: cannot read it: No such file', '/nowhere.csv'],
    ['/tmp: cannot read it: Is a directory', '/tmp'],
    ['/dev/null: there are no rows in it', '/dev/null'],
    ['--size "0": must be a whole number from 1 to 2147483647', '--size', '0', 'x'],
    ['--size "4k"', '--size', '4k', 'x'],
    ['needs a value', '--size'],
    ['unknown option', '--sizes', '3', 'x'],
    ['no rows of 512 x 512 x 512; it has those of 1024 2048 4096 8192 4095', `${latest}.csv`, '--size', '512'],
    ['no multiple of it', `${latest}.csv`, '--size', '4095', '--counters', 'x'],
    ['/nowhere.csv: cannot read it', `${latest}.csv`, '--counters', '/nowhere.csv'],
    ['h200_trials.csv:1: not the table that was expected', `${latest}.csv`, '--counters', trials[1]],
    ['README.md:1: not the table that was expected', `${latest}.csv`, '--trials', join(results, 'README.md')],
  ])
    expect_refused(chart(...args), says);
  const full = spawnSync(join(build, 'chart'), [`${latest}.csv`],
    { encoding: 'utf8', stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] });
  expect_refused({ status: full.status, text: full.stderr }, 'standard output: cannot write it: No space left');
});

test('a malformed row is named', () => {
  for (const [says, ...rows] of [
    [':2: not a row of this table', `${t4}01_naive,f32,1,1,1,0.4,\n`],
    [':2: not a row of this table', `${t4}01_naive,f32,1,1,1,0.4,,,\n`],
    [':2: "fast": must be a number above 0', `${t4}01_naive,f32,1,1,1,fast,,\n`],
    [':2: "0": must be a number above 0', `${t4}01_naive,f32,1,1,1,0,,\n`],
    [':2: "nan": must be a number above 0', `${t4}01_naive,f32,1,1,1,nan,,\n`],
    [':2: "": must be a number above 0', `${t4}01_naive,f32,1,1,1,,,\n`],
    [':2: "f8": the types are f16, f32 and f64', `${t4}01_naive,f8,1,1,1,0.4,,\n`],
    [':2: not a row of this table', '2026-01-02,"Tesla T4,"sm_75\n'],
    [':2: "sm_75, fast": does not say how many SMs',
      `${t4.replace('40 SMs up to 1590 MHz', 'fast')}01_naive,f32,1,1,1,0.4,,\n`],
    [':2: "-512": must be a whole number', `${t4.replace(/512,$/, '-512,')}a,f32,1,1,1,0.4,,\n`],
    [':3: not a row of this table', `${t4}01_naive,f32,1,1,1,0.4,,\n`, '\n'],
    ['are of two devices', `${t4}01_naive,f32,1,1,1,0.4,,\n`, `${other}02_smem_tile,f32,1,1,1,0.4,,\n`],
  ])
    expect_refused(chart('--size', '512', table_of(...rows)), says);
});
