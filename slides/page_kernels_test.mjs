// Kernels that the course shows, compiled as the page compiles them: each run of a lab has the C, the verdict and the kinds of
// findings at the lines that it has as nvcc compiles it, and each exercise's stub, solution and planted bugs pass and fail the
// same questions, with the same kind of finding first, at the same line. What may differ: the order of findings, for each compiler orders the loads of an expression in its way; names
// of registers; the line of an asm statement of several lines, of which clang tells the first and nvcc the last; and the bytes
// that are named where a line has several accesses. Skipped with exit 77 where the build has no labs, or no nvcc.
//
//   node slides/page_kernels_test.mjs BUILD [NAME...]     NAME: a step or an exercise; without: all
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { to_ptx } from './book/lab/compile.mjs';
import { headers, load_clang, load_translator } from './book/lab/compile_files.mjs';
import { message, open } from './book/lab/harness.mjs';
import { course_headers, lab_list, plain_ptx } from './book/lab_list.mjs';
import { copy_labs, lab_of } from './book/labs.mjs';
import { exercises } from './book/exercise_pages.mjs';
import { book } from './book/make.mjs';
import { arch_of } from './book/theme/edit.js';
import { agree, named } from './named_lines.mjs';
import { line_of, verdict_of } from './book/theme/lab.js';
import { read } from './project.mjs';
import { sample } from './sample.mjs';
import { missing } from './tools.mjs';

const told = ({ errors }) => new Error(errors.map(({ line, text }) => `kernel.cu:${line}: ${text}`).join('; '));

// --- the labs ---

const summary = (result) => ({ verdict: verdict_of(result), C: result.C, error: result.error,
  findings: [...new Set((result.findings ?? []).map((finding) => `${finding.id} ${line_of(finding)}`))].sort() });

async function same_run({ compile, worker }, { lab, run }) {
  const asked = message(worker, lab, run), files = asked.files, made = await compile(files['kernel.cu'], arch_of(files['kernel.ptx']));
  if (made.errors) throw told(made);
  const nvcc = summary(await worker.ask('run', asked));
  const page = summary(await worker.ask('run', { ...asked, files: { ...course_headers(), ...files, 'kernel.ptx': made.ptx } }));
  if (!isDeepStrictEqual(page, nvcc)) throw new Error(`${JSON.stringify(page)}, and by nvcc ${JSON.stringify(nvcc)}`);
  return nvcc.verdict;
}

// --- the exercises ---

// The build's check compiles kernels by this program with these options.
function compiler_of(build, name) {
  const of = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8')).find(({ file }) => file.endsWith(`${name}/check.c`)).command;
  const [, program] = of.match(/-DPTX_COMPILER="([^"]*)"/), [, flags] = of.match(/'-DPTX_FLAGS=(.*?)'/);
  return { program, flags: JSON.parse(`[${flags}]`) };
}

// [{ name, cut, bug }]: of a bug its name, else the stub or the solution.
const cuts_of = (name) => [{ name, cut: 'stub' }, { name, cut: 'solution' }, ...[...new Set([...read(`exercises/${name}/source.cu`)
  .matchAll(/\/\/ --- bug (.*?): "/g)].map(([, bug]) => bug))].map((bug) => ({ name, cut: 'bug', bug }))];

// Where the page names another line than nvcc's PTX leads to, and why.
const others = new Map([
  ['09_three_divisions, 8 halves of As a thread', "nvcc reads A at the line that stores what was read; the page names the line of the read"],
  ['03_thread_tile, the sums start at 0 in each tile', 'of a sum that begins with a constant clang leaves no instruction that has a line'],
  ['04_register_tile, one value of b for all columns', 'the load is the same in each round, and clang moves it out of the loop without its line: it gets that of its use'],
  ['04_register_tile, one value of a for all rows', 'the same'],
  ['08_wmma_loop, stub', 'what was never set has no value to clang, which leaves out what would store it: there is nothing to find'],
  ['08_wmma_loop, the same fragment of A for both rows', 'as in 04'],
]);

// Whether the questions that fail name the same lines: 'word for word', 'at the same lines' or 'at another line'.
function likeness(page, nvcc, text) {
  if (isDeepStrictEqual(page, nvcc)) return 'word for word';
  const apart = page.map((test, i) => [test, nvcc[i]]).filter(([a, b]) => a.state === 'failed' && a.text !== b.text)
    .map(([a, b]) => [named(a.text, text), named(b.text, text)]).filter(([a, b]) => !agree(a, b));
  return apart.length ? `at another line: ${apart.map(([a, b]) => `${a.join('; ')}, and by nvcc ${b.join('; ')}`).join('. ')}` : 'at the same lines';
}

async function same_check({ build, compile, worker, folder }, { name, cut, bug }) {
  const text = (await worker.ask('cut', { source: read(`exercises/${name}/source.cu`), bug }))[cut], { program, flags } = compiler_of(build, name);
  const kernel = join(folder, 'kernel.cu'), ptx = join(folder, 'kernel.ptx');
  writeFileSync(kernel, text);
  execFileSync(program, [...flags, '-o', ptx, kernel], { stdio: 'pipe' });
  const plain = plain_ptx(readFileSync(ptx, 'utf8'), 'kernel'), made = await compile(text, arch_of(plain));
  if (made.errors) throw told(made);
  const check = async (by) => (await worker.ask('check', { exercise: name, files: { ...course_headers(), 'kernel.cu': text, 'kernel.ptx': by } })).tests;
  const [nvcc, page] = [await check(plain), await check(made.ptx)], states = (tests) => tests.map(({ title, state }) => `${title}: ${state}`);
  if (!isDeepStrictEqual(states(page), states(nvcc))) throw new Error(`${states(page)}, and by nvcc ${states(nvcc)}`);
  const how = likeness(page, nvcc, text), known = others.has(`${name}, ${bug ?? cut}`), apart = how.startsWith('at another line');
  if (apart !== known) throw new Error(apart ? how : 'it names the same lines by now');
  return apart ? 'at another line, known' : how;
}

// --- all of them ---

async function each(list, name_of, what) {
  const ends = {}, wrong = [];
  for (const one of list) {
    const end = await what(one).catch((error) => error), key = end instanceof Error ? 'wrong' : end;
    ends[key] = (ends[key] ?? 0) + 1;
    if (key === 'wrong') wrong.push(`${name_of(one)}: ${end.message.slice(0, 1000)}`);
  }
  return { ends: Object.entries(ends).map(([end, n]) => `${n} ${end}`).join(', '), wrong };
}

async function main() {
  const [given, ...only] = process.argv.slice(2), build = resolve(given), lacking = missing(false, { folder: book, browser: false });
  const labs = mkdtempSync(join(tmpdir(), 'labs-')), folder = mkdtempSync(join(tmpdir(), 'kernels-'));
  try {
    const translate = lacking.length ? null : load_translator(build), version = translate && await copy_labs(build, labs);
    if (!version) {
      console.log(`skipped: ${lacking[0] ?? 'the build has no labs: emcc is not on the PATH'}`);
      return 77;
    }
    const runLLVM = await load_clang(), wanted = (name) => !only.length || only.includes(name);
    const tools = { build, folder, worker: await open(labs, 'bench'), compile: (text, arch) => to_ptx(runLLVM, translate, headers(), text, arch) };
    const runs = lab_list().map(({ step }) => lab_of(build, step, version)).filter((lab) => lab && wanted(lab.step)).flatMap((lab) => lab.runs.map((run) => ({ lab, run })));
    const cuts = exercises().filter(({ name }) => wanted(name)).flatMap(({ name }) => cuts_of(name));
    const of_labs = await each(sample(runs, 25), ({ lab, run }) => `${lab.step} ${run.id}`, (one) => same_run(tools, one));
    const of_exercises = await each(sample(cuts, 70), ({ name, cut, bug }) => `${name}, ${bug ?? cut}`, (one) => same_check(tools, one));
    for (const line of [...of_labs.wrong, ...of_exercises.wrong]) console.error(line);
    console.log(`labs, of ${runs.length} runs: ${of_labs.ends}\nexercises, of ${cuts.length} kernels: ${of_exercises.ends}`);
    return of_labs.wrong.length + of_exercises.wrong.length ? 1 : 0;
  } finally {
    for (const path of [folder, labs]) rmSync(path, { recursive: true });
  }
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`kernels: ${error.stack}`);
  process.exitCode = 1;
});
