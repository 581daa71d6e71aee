// The exercises' checks in the page's worker under Node: stub and solution get the same report, word by word, and
// the same points as from the programs that build/course check runs. Skipped with exit 77 where the build has no labs.
//
//   node slides/exercise_page_test.mjs BUILD [EXERCISE...]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { open } from './book/lab/harness.mjs';
import { course_headers, plain_ptx } from './book/lab_list.mjs';
import { copy_labs } from './book/labs.mjs';
import { exercises } from './book/exercise_pages.mjs';
import { book } from './book/make.mjs';
import { answers_of, grade_of } from './book/theme/exercise.js';
import { read } from './project.mjs';
import { sample } from './sample.mjs';
import { missing } from './tools.mjs';

// How the build's check compiles a kernel: its compiler and options.
function compiler_of(build, name) {
  const of = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8')).find(({ file }) => file.endsWith(`${name}/check.c`)).command;
  const [, program] = of.match(/-DPTX_COMPILER="([^"]*)"/), [, flags] = of.match(/'-DPTX_FLAGS=(.*?)'/);
  return { program, flags: JSON.parse(`[${flags}]`) };
}

// A report as check_main.c prints it.
function report(tests) {
  const marks = { passed: 'ok ', failed: 'not yet:', skipped: ' - ' };
  const indented = (text) => text.replace(/\n$/, '').split('\n').map((line) => `${line && `       ${line}`}\n`).join('');
  return tests.map(({ title, state, text }) => `  ${marks[state]} ${title}\n${text && indented(text)}`).join('');
}

// What nvcc warns of stands before the report.
function natively(build, name, kernel, folder) {
  const graded = join(folder, 'graded'), env = { ...process.env, EXERCISE_KERNEL: kernel, EXERCISE_GRADE: graded };
  writeFileSync(graded, '');
  const said = spawnSync(join(build, 'exercises', `check_${name}`), { env, encoding: 'utf8' }).stdout;
  const rows = readFileSync(graded, 'utf8').split('\n').filter(Boolean);
  return { said: said.replace(/^[^]*?(?=^ {2}(ok |not yet:| - ) )/m, '').replaceAll(`${folder}/`, ''), passed: rows.filter((row) => row.startsWith('passed ')).length, questions: rows.length };
}

async function in_the_page(build, worker, name, kernel, folder) {
  const { program, flags } = compiler_of(build, name), ptx = join(folder, 'kernel.ptx');
  execFileSync(program, [...flags, '-o', ptx, kernel], { stdio: 'pipe' });
  const files = { ...course_headers(), 'kernel.ptx': plain_ptx(readFileSync(ptx, 'utf8'), 'kernel'), 'kernel.cu': readFileSync(kernel, 'utf8') };
  const { tests } = await worker.ask('check', { exercise: name, files }), counted = tests.filter(({ counts }) => counts);
  return { tests, said: report(tests), passed: counted.filter(({ state }) => state === 'passed').length, questions: counted.length };
}

async function compare(build, worker, name, folder) {
  let by_stub = 0;
  const wrong = [], { stub, solution } = await worker.ask('cut', { source: read(`exercises/${name}/source.cu`) }), kernel = join(folder, 'kernel.cu');
  if (stub !== read(`exercises/${name}/kernel.cu`)) wrong.push(`${name}: the page's stub is not kernel.cu`);
  for (const [cut, text] of Object.entries({ stub, solution })) {
    writeFileSync(kernel, text);
    const here = natively(build, name, kernel, folder), page = await in_the_page(build, worker, name, kernel, folder);
    if (page.said !== here.said) wrong.push(`${name}, ${cut}: the page says\n${page.said}and not\n${here.said}`);
    if (page.passed !== here.passed || page.questions !== here.questions)
      wrong.push(`${name}, ${cut}: ${page.passed} of ${page.questions} questions pass in the page, here ${here.passed} of ${here.questions}`);
    if (cut === 'stub') by_stub = page.passed;
    if (cut === 'solution' && page.passed !== page.questions) wrong.push(`${name}: the solution does not pass`);
    if (cut === 'solution') wrong.push(...await graded(build, worker, name, kernel, { ...page, by_stub, stub }));
  }
  return wrong;
}

// The exercise in the grade file of build/progress, for a class of one who did this one alone, and in that of the page.
async function graded(build, worker, name, kernel, { tests, passed, questions, by_stub, stub }) {
  const mine = join(dirname(kernel), 'class'), file = join(dirname(kernel), 'grade.json'), text = readFileSync(kernel, 'utf8');
  mkdirSync(join(mine, name), { recursive: true });
  writeFileSync(join(mine, name, 'kernel.cu'), text);
  execFileSync(join(build, 'progress'), ['grade', '--json', file], { env: { ...process.env, EXERCISES: mine }, stdio: 'pipe' });
  rmSync(mine, { recursive: true });
  const there = JSON.parse(readFileSync(file, 'utf8')), points = await worker.ask('points', { questions, passed, by_stub });
  const kept = { text, checked: text, compiled: true, ...answers_of(tests), points }, { title } = exercises().find((one) => one.name === name);
  const page = grade_of(exercises().map((one) => (one.name === name ? { name, title, stub, kept } : { ...one, stub: '', kept: null })));
  const same = (a, b) => isDeepStrictEqual(a, b) ? [] : [`${name}: the page's grade is ${JSON.stringify(a)}, and not ${JSON.stringify(b)}`];
  return [...same(page.exercises.find((one) => one.name === name), there.exercises.find((one) => one.name === name)),
    ...same([page.points, page.of, Object.keys(page)], [there.points, there.of, Object.keys(there)])];
}

async function main() {
  const [build, ...only] = process.argv.slice(2), lacking = missing(false, { folder: book, browser: false });
  const folder = mkdtempSync(join(tmpdir(), 'exercise-')), labs = mkdtempSync(join(tmpdir(), 'labs-')), wrong = [];
  try {
    if (lacking.length || !await copy_labs(resolve(build), labs)) {
      console.log(`skipped: ${lacking[0] ?? 'the build has no labs: emcc is not on the PATH'}`);
      return 77;
    }
    const worker = await open(labs, 'bench'), all = exercises(), chosen = only.length ? only : sample(all.map(({ name }) => name), 13);
    for (const name of chosen) wrong.push(...await compare(resolve(build), worker, name, folder));
    for (const line of wrong) console.error(line);
    console.log(`${chosen.length} of ${all.length} exercises compared; ${wrong.length || 'nothing'} wrong`);
    return wrong.length ? 1 : 0;
  } finally {
    for (const path of [folder, labs]) rmSync(path, { recursive: true });
  }
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`exercises: ${error.stack}`);
  process.exitCode = 1;
});
