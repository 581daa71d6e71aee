// Where the decks' code, numbers and pictures come from: the kernels, runs on the simulated GPU, the results of a GPU.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const slides = dirname(fileURLToPath(import.meta.url));
export const root = resolve(slides, '..');
export const SIZE = 256;  // the M, N and K of every run on the simulated GPU

export function fail(message) {
  throw new Error(message);
}

export function read(path) {
  const full = resolve(root, path);
  return existsSync(full) ? readFileSync(full, 'utf8') : fail(`${path} is missing`);
}

// Kernels with one thing changed, which slides/meson.build makes: name -> the step that was changed.
const variants = Object.fromEntries(
  read('slides/variants.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => line.split(/\s+/, 2)));

// --- a kernel's constants and launch ---

function evaluate(expression, names, where) {
  const js = expression.replace(/[A-Za-z_]\w*/g, (name) => names[name] ?? fail(`${where}: ${name} is unknown`));
  if (!/^[\d\s.+\-*/%()<>?:]+$/.test(js)) fail(`${where}: "${expression}" is no formula`);
  return Function(`return (${js});`)();
}

export function step_of(kernel) {
  const step = variants[kernel] ?? kernel.replace(/_double$/, '');
  return existsSync(resolve(root, 'steps', step, 'kernel.cu')) ? step : fail(`there is no kernel ${kernel}`);
}

// constexpr int A = 1, B = 2; for formulas, which name more than the geometry does (PAD, BYTES).
function constants(step) {
  const names = { M: SIZE, N: SIZE, K: SIZE };
  for (const [, list] of read(`steps/${step}/kernel.cu`).matchAll(/^constexpr int ([^;]+);/gm))
    for (const [, name, value] of list.matchAll(/(\w+) = ([^,]+)/g)) {
      const integer = value.replace(/\//g, ' / ');
      names[name] = Math.trunc(evaluate(integer, names, `steps/${step}/kernel.cu`));
    }
  return names;
}

export function calculate(kernel, expression) {
  return evaluate(expression, constants(step_of(kernel)), `calc ${kernel}`);
}

// What the step's driver says of itself, or of its kernel with one thing changed.
function described(build, kernel) {
  const step = step_of(kernel), name = kernel in variants ? step : kernel;
  return JSON.parse(run(join(build, 'steps', step, name), build, ['--describe', '--ptx', ptx(build, kernel)]));
}

function launch(build, kernel, [m, n, k] = [SIZE, SIZE, SIZE]) {
  const { type, geometry: { bm, bn, threads, shared } } = described(build, kernel);
  const array = (rows, columns, content) => `${type}[${rows * columns}]=${content}`;
  const factor = (value) => `${type === 'f64' ? 'f64' : 'f32'}:${value}`;
  return {
    options: ['--grid', `${Math.ceil(n / bn)},${Math.ceil(m / bm)}`, '--block', String(threads),
      '--shared', String(shared)],
    arguments: [...[m, n, k].map((size) => `i32:${size}`), factor(1), array(m, k, 'normal:1'), array(k, n, 'normal:2'),
      factor(0), array(m, n, 'zeros')],
  };
}

function ptx(build, kernel) {
  const step = step_of(kernel);
  const path = kernel in variants ? join(build, 'slides', `${kernel}.ptx`) : join(build, 'steps', step, `${kernel}.ptx`);
  return existsSync(path) ? path : fail(`${path} is missing: meson compile -C ${build}`);
}

function run(path, build, args) {
  if (!existsSync(path)) fail(`${path} is missing: meson compile -C ${build}`);
  try {
    return execFileSync(path, args, { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return fail(`${path} ${args.join(' ')}: ${error.stderr}`);
  }
}

const simt = (build, args) => run(join(build, 'common', 'simt', 'simt'), build, args);

// --- counters ---

// The short names by which decks ask for counters; "metrics" tables show both.
const metrics = Object.fromEntries(
  read('slides/metrics.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => {
    const [short, name, ...label] = line.split(/\s+/);
    return [short, { name, label: label.join(' ') }];
  }));

export function metric(short) {
  return metrics[short] ?? fail(`slides/metrics.txt has no ${short}`);
}

const profiles = new Map();

export function simulated(build, kernel, short) {
  if (!profiles.has(kernel)) {
    const { options, arguments: args } = launch(build, kernel);
    const folder = mkdtempSync(join(tmpdir(), 'slides-'));
    try {
      simt(build, ['profile', ptx(build, kernel), 'gemm', ...options, '--json', join(folder, 'x.json'), ...args]);
      profiles.set(kernel, JSON.parse(readFileSync(join(folder, 'x.json'), 'utf8')).metrics);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return profiles.get(kernel)[metric(short).name] ?? fail(`no counter ${metric(short).name}`);
}

function newest(pattern) {
  const found = readdirSync(resolve(root, 'steps/results')).filter((name) => pattern.test(name)).sort();
  return found.length ? `steps/results/${found.at(-1)}` : fail(`steps/results has nothing like ${pattern}`);
}

export function measured(step, short) {
  const path = newest(/^h200_[\d-]+_counters\.csv$/);
  const row = read(path).split('\n').find((line) => line.startsWith(`${step},${metric(short).name},`));
  return Number((row ?? fail(`${path} has no ${short} of ${step}`)).split(',')[2]);
}

// --- times ---

const times = /^h200_[\d-]+\.csv$/;

const fields = (line) => line.match(/"[^"]*"|[^,]+/g).map((field) => field.replaceAll('"', ''));

export function result(step, size) {
  const path = newest(times);
  const [head, ...lines] = read(path).trim().split('\n').map(fields);
  const at = (row, name) => row[head.indexOf(name)];
  const row = lines.find((r) => at(r, 'step') === step && at(r, 'm') === String(size)) ??
    fail(`${path} has no ${step} at ${size}`);
  const numbers = Object.fromEntries(['ms', 'tflops', 'baseline_tflops'].map((name) => [name, Number(at(row, name))]));
  return { ...numbers, type: at(row, 'type'), date: at(row, 'date'), device: at(row, 'device'),
    baseline: at(row, 'baseline') };
}

// --- pictures ---

// slides/pictures.txt: the file, then the arguments of simt draw; a kernel's name stands for its PTX file and launch, and
// --line takes the text with which the line begins; size=MxNxK is another size than 256 each. Or "chart" and its
// arguments, without the table of results.
export function pictures() {
  return read('slides/pictures.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => {
    const [file, ...args] = line.match(/"[^"]*"|\S+/g).map((arg) => arg.replaceAll('"', ''));
    return { file, args };
  });
}

export function line_of(path, text) {
  const lines = read(path).split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, i) => (line.startsWith(text) ? [i + 1] : []));
  if (found.length !== 1) fail(`${path}: ${found.length} lines begin with "${text}", not one`);
  return found[0];
}

export function draw(build, { file, args }) {
  if (args[0] === 'chart') return run(join(build, 'steps', 'chart'), build, [...args.slice(1), resolve(root, newest(times))]);
  if (args[0].startsWith('--')) return simt(build, ['draw', ...args, '--out', '-']);
  const kernel = args[0], size = args[1]?.match(/^size=(\d+)x(\d+)x(\d+)$/)?.slice(1).map(Number);
  const rest = args.slice(size ? 2 : 1), at = rest.indexOf('--line');
  if (at >= 0) rest[at + 1] = String(line_of(`steps/${step_of(kernel)}/kernel.cu`, rest[at + 1]));
  const { options, arguments: values } = launch(build, kernel, size);
  return simt(build, ['draw', ptx(build, kernel), 'gemm', ...options, ...rest, '--out', '-', ...values]);
}
