// What the pages' compiler has in place of a C library and of CUDA's headers: functions right to some units in the last place,
// what C calls NaN and infinite, and cooperative groups. Skipped with exit 77 where the packages of the book are not installed.
//
//   node tests/irptx/functions_test.mjs BUILD
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { book } from '../../slides/book/make.mjs';
import { missing } from '../../slides/tools.mjs';
import { compiler } from './kernels.mjs';

const COUNT = 4096, SUMS = COUNT / 8;
// [in CUDA, in JavaScript, how many units in the last place it may be wrong]
const functions = [
  ['expf(4 * v)', (v) => Math.exp(4 * v), 4],
  ['exp(-v)', (v) => Math.exp(-v), 4],
  ['logf(fabs(v))', (v) => Math.log(Math.abs(v)), 4],
  ['log(1 + i / 4096.f)', (v, i) => Math.log(1 + i / 4096), 4],
  ['tanhf(v)', Math.tanh, 8],
  ['cosh(v)', Math.cosh, 4],
  ['sinf(20 * v)', (v) => Math.sin(Math.fround(20 * v)), 4],
  ['cos(v)', Math.cos, 4],
  ['tanf(v)', Math.tan, 8],
  ['atanf(3 * v)', (v) => Math.atan(Math.fround(3 * v)), 4],
  ['powf(fabs(v), 3 * v)', (v) => Math.pow(Math.abs(v), Math.fround(3 * v)), 4],
  ['pow(v, i % 40 - 20)', (v, i) => Math.fround(Math.pow(v, i % 40 - 20)), 4],
  ['sqrt(fabs(v))', (v) => Math.sqrt(Math.abs(v)), 0.51],
  ...['exp', 'sin', 'cos'].map((name) => [`${name}(5 * double(v))`, (v) => Math.fround(Math[name](5 * v)), 0]),
  ['log(double(i))', (v, i) => Math.fround(Math.log(i)), 0],
  ['fabs(sin(v * 20.) * sin(v * 20.) + cos(v * 20.) * cos(v * 20.) - 1) < 1e-15', () => 1, 0],
  ['fabs(log(exp(v * 5.)) - v * 5.) < 1e-14', () => 1, 0],
  ['floor(v) + ceilf(v)', (v) => Math.floor(v) + Math.ceil(v), 0],
  ['min(i, 7u) + INT_MAX % 10', (v, i) => Math.min(i, 7) + 7, 0],
  ['float(M_PI)', () => Math.fround(Math.PI), 0],
  ['isnan(i % 2 ? v : NAN) + 2 * isinf(i % 3 ? v : -INFINITY) + 4 * isfinite(v / (i % 5))', (v, i) => (i % 2 ? 0 : 1) + (i % 3 ? 0 : 2) + (i % 5 && 4), 0],
];
const source = `#include <stdio.h>
#include <cmath>
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void values(const float *x, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  assert(i < ${COUNT});
${functions.map(([text], k) => `  y[${k * COUNT} + i] = ${text};`).join('\n')}
}
extern "C" __global__ void sums(const float *x, float *y) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  struct pair { float sum, most; } p = { x[i], x[i] };
  p = cg::reduce(tile, p, [](pair a, pair b) { return pair{ a.sum + b.sum, fmaxf(a.most, b.most) }; });
  const bool there = tile.any(x[i] == p.most) && tile.ballot(1) == 255;
  if (tile.thread_rank() == 0)
    y[i / 8] = p.sum, y[${SUMS} + i / 8] = there ? p.most : NAN;
}
`;

const floats = (path) => new Float32Array(new Uint8Array(readFileSync(path)).buffer);

function run(build, folder, ptx, kernel, results) {
  const [x, y] = ['x', 'y'].map((name) => join(folder, name));
  execFileSync(join(build, 'simt'), ['run', ptx, kernel, '--grid', String(COUNT / 256), '--block', '256', `x=f32[${COUNT}]=normal:3`, `y=f32[${results}]=uninit`,
    '--dump', `x=${x}`, '--dump', `y=${y}`], { stdio: 'pipe' });
  return [floats(x), floats(y)];
}

// In units in the last place of what is wanted.
function error_of(is, wanted) {
  if (is === wanted) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(wanted))) - 23);
  return Number.isFinite(is) ? Math.abs(is - wanted) / unit : Infinity;
}

async function main() {
  const [build] = process.argv.slice(2), lacking = missing(false, { folder: book, browser: false }), wrong = [];
  if (lacking.length) {
    console.log(`skipped: ${lacking[0]}`);
    return 77;
  }
  const folder = mkdtempSync(join(tmpdir(), 'functions-')), kernel = join(folder, 'kernel.cu'), to = join(folder, 'out');
  try {
    writeFileSync(kernel, source);
    const refused = await (await compiler(join(build, 'irptx')))(kernel, 'sm_80', [], to);
    if (refused) throw new Error(refused);
    const [x, y] = run(build, folder, `${to}.ptx`, 'values', functions.length * COUNT);
    functions.forEach(([text, exact, most], k) => {
      const worst = Math.max(...Array.from(x, (v, i) => error_of(y[k * COUNT + i], exact(v, i))));
      console.log(`${text}: ${worst.toFixed(2)} units at most`);
      if (!(worst <= most)) wrong.push(`${text} is wrong by ${worst} units in the last place`);
    });
    const [, tiles] = run(build, folder, `${to}.ptx`, 'sums', 2 * SUMS);
    for (let i = 0; i < SUMS; i++) {
      const part = Array.from(x.subarray(8 * i, 8 * i + 8)), sum = part.reduce((a, b) => a + b);
      if (Math.abs(tiles[i] - sum) > 1e-5 || tiles[SUMS + i] !== Math.max(...part)) wrong.push(`tile ${i} has ${tiles[i]} and ${tiles[SUMS + i]}, not ${sum} and ${Math.max(...part)}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const line of wrong.slice(0, 10)) console.error(line);
  return wrong.length ? 1 : 0;
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`functions: ${error.stack}`);
  process.exitCode = 1;
});
