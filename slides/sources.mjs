// What the kernels themselves say: their constants, what the simulated GPU counts, the pictures that it draws.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { kept } from './kept.mjs';
import { describe, run, worth_files } from './programs.mjs';
import { fail, line_of, only_folder, read, root, step_name } from './project.mjs';
import { fingerprint } from './registers.mjs';
import { cell, metric, times_path } from './results.mjs';

export const SIZE = 256;  // the M, N and K of every run on the simulated GPU
const H200_SMS = 132, UNUSED = ['uninit', 'uninit', 'uninit'];  // for a timeline in cycles, which computes nothing
const SIM_SMS = 2;        // that it has for a kernel with a block for each SM, as in common/tester/gemm.c

// Kernels with one thing changed, which steps/variants/meson.build makes: name -> the step that was changed.
export const variants = Object.fromEntries(
  read('steps/variants/variants.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => line.split(/\s+/, 2)));

// --- a kernel's constants and launch ---

export function step_of(kernel) {
  const step = variants[kernel] ?? step_name(kernel).replace(/_double$/, '');
  return existsSync(resolve(root, 'steps', step, 'kernel.cu')) ? step : fail(`there is no kernel ${kernel}`);
}

// A step's or a variant's kernel, "ex04": the solution of that exercise, or a file.
export function source_of(what) {
  if (/[/.]/.test(what)) return what;
  const [, digits] = what.match(/^ex(\d\d[a-z]?)$/) ?? [];
  return digits ? `exercises/${only_folder('exercises', digits)}/source.cu` : `steps/${step_of(what)}/kernel.cu`;
}

const constants_of = new Set(
  read('slides/constants.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => line.split(/\s+/)[0]));

// What the step's driver says of itself, or of its kernel with one thing changed.
function described(build, kernel) {
  const step = step_of(kernel), driver = kernel in variants ? step : step_name(kernel);
  return describe(build, driver, ptx(build, kernel));
}

// The same of the PTX that slides/meson.build makes of a kernel for its constants; any driver can read it.
function described_source(build, source) {
  const file = join(build, 'slides', `${source.replace(/\.cu$/, '').replaceAll('/', '_')}.ptx`), step = only_folder('steps', '01');
  return describe(build, step, existsSync(file) ? file : fail(`${file} is missing: meson compile -C ${build} slides_kernels`));
}

// For formulas: the geometry, and of slides/constants.txt what stands there for the kernel.
export function constants(build, kernel) {
  const source = source_of(kernel);
  const { geometry, constants: more } = constants_of.has(source) ? described_source(build, source) : described(build, kernel);
  const named = [...Object.entries(geometry).filter(([, value]) => value).map(([name, value]) => [name.toUpperCase(), value]),
    ...Object.entries(more).map(([name, value]) => [name.replace(/^constant_/, ''), value])];
  return { M: SIZE, N: SIZE, K: SIZE, ...Object.fromEntries(named) };
}

// sms: of the GPU, for a kernel with a block for each; content: of A and B, where it matters.
function launch(build, kernel, [m, n, k] = [SIZE, SIZE, SIZE], sms = SIM_SMS, content = ['normal:1', 'normal:2', 'zeros']) {
  const { type, geometry: { bm, bn, bk, threads, shared, box, blocks, cbox } } = described(build, kernel);
  const array = (rows, columns, content) => `${type}[${rows * columns}]=${content}`;
  const operand = (rows, columns, box_rows, content) => (box ?
    `map:${type}[${rows},${columns}]box[${box_rows},${box}]swizzle128=${content}` : array(rows, columns, content));
  const across = Math.ceil(n / bn), down = Math.ceil(m / bm);
  const factor = (value) => `${type === 'f64' ? 'f64' : 'f32'}:${value}`;
  return {
    options: ['--grid', blocks ? String(Math.min(across * down, sms * blocks)) : `${across},${down}`,
      '--block', String(threads), '--shared', String(shared)],
    arguments: [...[m, n, k].map((size) => `i32:${size}`), factor(1), operand(m, k, bm, content[0]),
      operand(k, n, bk, content[1]), factor(0), array(m, n, content[2]),
      ...(cbox ? [operand(m, n, cbox, content[2])] : [])],
  };
}

export function ptx(build, kernel) {
  const step = step_of(kernel);
  const path = join(build, 'steps', ...(kernel in variants ? ['variants', `${kernel}.ptx`] : [step, `${step_name(kernel)}.ptx`]));
  return existsSync(path) ? path : fail(`${path} is missing: meson compile -C ${build}`);
}

const simt_program = (build) => join(build, 'simt');

function simt(build, args) {
  const files = [simt_program(build), ...args.filter((arg) => arg.endsWith('.ptx'))];
  return kept(build, args.join(' '), files, () => run(simt_program(build), build, args));
}

// --- counters ---

const profiles = new Map();

// The JSON of simt profile.
function profile_of(build, kernel, sizes) {
  const { options, arguments: args } = launch(build, kernel, sizes), path = ptx(build, kernel);
  const before = ['profile', path, 'gemm', ...options];
  return kept(build, [...before, ...args].join(' '), [simt_program(build), path], () => {
    const folder = mkdtempSync(join(tmpdir(), 'slides-')), to = join(folder, 'x.json');
    try {
      run(simt_program(build), build, [...before, '--json', to, ...args]);
      return readFileSync(to, 'utf8');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

function profile(build, kernel, sizes) {
  const key = `${kernel} ${sizes}`;
  if (!profiles.has(key)) profiles.set(key, JSON.parse(profile_of(build, kernel, sizes)));
  return profiles.get(key);
}

// Of one launch; with a text, of the kernel's line that begins with it.
export function simulated(build, kernel, short, begins, sizes) {
  const { metrics: total, lines } = profile(build, step_name(kernel), sizes), { name } = metric(short);
  if (begins === undefined) return total[name] ?? fail(`no counter ${name}`);
  const at = line_of(`steps/${step_of(kernel)}/kernel.cu`, begins);
  return lines.find(({ file, line }) => /\/\w+\.cu$/.test(file) && line === at)?.metrics[name] ?? 0;
}

// --- pictures ---

// slides/pictures.txt: the file, then the arguments of simt draw; a kernel's name stands for its PTX file and launch, and
// --line takes the text with which the line begins; size=MxNxK is another size than 256 each; with --card a timeline is in
// cycles, and a persistent kernel has as many blocks as an H200 has SMs. Or "chart" and its
// arguments, without the table of results. Or "worth" and its arguments. Or "machine", a kernel of 00_machine, and all that simt draw needs. Or "hand":
// drawn by hand, for what no run can show.
export function pictures() {
  return read('slides/pictures.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => {
    const [file, ...args] = line.match(/"[^"]*"|\S+/g).map((arg) => arg.replaceAll('"', ''));
    return { file, args };
  });
}

// A kernel of chapter 00, which is no matrix multiply: its launch and its arguments stand in the line, too.
function draw_machine(build, [kernel, ...args]) {
  const folder = 'steps/00_machine', at = args.indexOf('--line');
  if (at >= 0) args[at + 1] = String(line_of(`${folder}/kernel.cu`, args[at + 1]));
  return simt(build, ['draw', join(build, folder, '00_machine.ptx'), kernel, '--out', '-', ...args]);
}

// What the clock says is of the machine code that one release of ptxas makes. With another one it says something else, and
// an old picture or text is not stale.
export const other_ptxas = (build, kernel) =>
  fingerprint(ptx(build, kernel)).release !== cell(build, 'ptxas', [variants[kernel] ?? step_name(kernel)], 'release');

export const by_another_ptxas = (build, { args }) => args.includes('--card') && other_ptxas(build, args[0]);

// --step, what one step bought, also needs the table of counters.
function draw_chart(build, args) {
  const times = resolve(root, times_path());
  const counters = args.includes('--step') ? ['--counters', times.replace(/\.csv$/, '_counters.csv')] : [];
  return run(join(build, 'chart'), build, [...args, ...counters, times]);
}

export function draw(build, { file, args }) {
  if (args[0] === 'chart') return draw_chart(build, args.slice(1));
  if (args[0] === 'worth') return run(join(build, 'worth'), build, [...args.slice(1), '--svg', '-', ...worth_files()]);
  if (args[0].startsWith('--')) return simt(build, ['draw', ...args, '--out', '-']);
  if (args[0] === 'hand') return read(`slides/pictures/${file}`);
  if (args[0] === 'machine') return draw_machine(build, args.slice(1));
  const kernel = args[0], size = args[1]?.match(/^size=(\d+)x(\d+)x(\d+)$/)?.slice(1).map(Number);
  const rest = args.slice(size ? 2 : 1), at = rest.indexOf('--line');
  if (at >= 0) rest[at + 1] = String(line_of(`steps/${step_of(kernel)}/kernel.cu`, rest[at + 1]));
  const { options, arguments: values } = rest.includes('--card') ? launch(build, kernel, size, H200_SMS, UNUSED) :
    launch(build, kernel, size);
  return simt(build, ['draw', ptx(build, kernel), 'gemm', ...options, ...rest, '--out', '-', ...values]);
}
