// Every lab and each of its variants, in the page's worker under Node: C, the map of it, counters, findings and causes are
// those of this machine and of the step's own driver. Skipped with exit 77 where the build has no labs.
//
//   node slides/lab_test.mjs BUILD [--time]     --time: prints milliseconds at 128 and 256 cubed in place of comparing
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { message, open } from './book/lab/harness.mjs';
import { lab_list } from './book/lab_list.mjs';
import { copy_labs, lab_of } from './book/labs.mjs';
import { book } from './book/make.mjs';
import { sample } from './sample.mjs';
import { missing } from './tools.mjs';

// Compressed: what a chapter loads for the first result of its lab, and what it loads behind that.
const MOST_BYTES = { first: 215_000, rest: 170_000 };

const close = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

// The first field in which two results differ; where one side says nothing, there is nothing to compare.
function difference(page, other, names) {
  const name = names.find((field) => !isDeepStrictEqual(page[field], other[field]));
  return name && `${name}: ${JSON.stringify(page[name])?.slice(0, 300)}\n  not ${JSON.stringify(other[name])?.slice(0, 300)}`;
}

function natively(build, folder, lab, { entry, number, m, n, k, alpha, beta }) {
  const said = execFileSync(join(build, 'slides', 'lab_native'), ['kernel.ptx', ...(entry ? [entry, number] : [lab.type, m, n, k, alpha, beta])].map(String),
    { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  const end = said.lastIndexOf('\n', said.length - 2), map = said.slice(end + 1, -1);
  return { ...JSON.parse(said.slice(0, end)), map: map || null };
}

// A launch of one warp by simt: the same arrays.
function by_simt(build, folder, { entry, number }) {
  const arrays = { sectors: ['in', 'out'], banks: ['out'], banks_wide: ['out'] }[entry].map((name) => `${name}=f32[16384]=iota`);
  const run = spawnSync(join(build, 'simt'), ['check', 'kernel.ptx', entry, '--grid', '1', '--block', '32', '--json', '-', `i32:${number}`, ...arrays],
    { cwd: folder, encoding: 'utf8' });
  return { ...JSON.parse(run.stdout), verdict: 'ran' };
}

function by_driver(build, folder, lab, { m, n, k, alpha, beta }) {
  const options = { '--device': 'sim', '--ptx': 'kernel.ptx', '--m': m, '--n': n, '--k': k, '--alpha': alpha, '--beta': beta, '--course': 'course.cu', '--jobs': 1, '--json': '-' };
  const run = spawnSync(join(build, lab.step), [...Object.entries(options).map((pair) => pair.join('=')), '--sanitize', '--once'],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  const { what, ...said } = JSON.parse(run.stdout);
  return said.verdict === 'failed' ? { verdict: 'failed', error: what } : { ...said, what };
}

async function compare(build, worker, lab, run) {
  const folder = mkdtempSync(join(tmpdir(), 'lab-'));
  try {
    const asked = message(worker, lab, run);
    for (const [name, text] of Object.entries(asked.files)) writeFileSync(join(folder, name), text);
    const page = await worker.ask('run', asked), native = natively(build, folder, lab, run), driver = run.entry ? by_simt(build, folder, run) : by_driver(build, folder, lab, run);
    page.map = page.map && page.map.join('');
    const same = ['verdict', 'error', 'kernel', 'metrics', 'lines', 'findings', 'look', 'source', 'what', 'changed'];
    const wrong = difference(page, native, ['C', 'map', ...same]) ?? difference(page, driver, page.error ? ['verdict', 'error'] : same) ??
      (page.error || run.entry || close(page.worst, native.worst) ? null : `worst: ${page.worst}, not ${native.worst}`);
    return { wrong, stuck: page.findings?.some(({ id }) => id === 'ENDLESS_WAIT'), verdict: page.verdict, findings: page.findings?.length ?? 0, ms: page.ms };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The last run, watched: back and forth is the same state, and the steps of a warp follow one another; where it was stuck, the
// watch opens at its end, and says who waits.
async function watched(worker, stuck) {
  const { steps, first, findings } = await worker.ask('watch', { block: 0 }), look = (moment) => worker.ask('look', { moment });
  for (let i = 0; i < 4; i++) {
    const moment = Math.floor(steps * (i + 0.5) / 4), now = await look(moment), next = { from: moment, stop: 0, warp: now.warp };
    const ahead = await worker.ask('next', { ...next, back: false });
    if (now.moment !== moment) return `moment ${moment} is shown as ${now.moment}`;
    if (ahead >= 0 && (await worker.ask('next', { ...next, from: ahead, back: true })) !== moment) return `moment ${moment}: forth and back is another`;
    if (ahead >= 0 && ((await look(ahead)).step !== now.step + 1)) return `moment ${moment}: the next step of the warp is not the next`;
    if (!isDeepStrictEqual(await look(moment), now)) return `moment ${moment} differs when it is looked at again`;
  }
  const begin = findings[first], why = stuck ? await worker.ask('why', { moment: steps - 1 }) : [];
  if (stuck && !(begin?.ends && begin.moment === steps - 1 && why.some(({ kind }) => kind === 'waits')))
    return `it is stuck, and the watch begins at ${JSON.stringify(begin)}, with ${JSON.stringify(why)}`;
  return null;
}

const least = async (n, what) => {
  let best = Infinity;
  for (let i = 0; i < n; i++) best = Math.min(best, await what());
  return best;
};

async function time(worker, lab) {
  const of = async (size) => (await worker.ask('run', message(worker, lab, { ...lab.runs[0], m: size, n: size, k: size }))).ms;
  const [small, large] = [await least(5, () => of(128)), await least(3, () => of(256))];
  console.log(`${lab.step.padEnd(20)} ${small.toFixed(0).padStart(5)} ms at 128 ${large.toFixed(0).padStart(5)} ms at 256`);
}

function sizes(folder) {
  const bytes = (name) => readFileSync(join(folder, name)), worker = gzipSync(bytes('lab_worker.js'), { level: 9 }).length;
  const are = { first: bytes('lab.wasm.gz').length + worker, rest: bytes('lab_rest.wasm.gz').length };
  console.log(`by gzip: ${are.first} bytes of worker and module for a first run, ${are.rest} bytes behind it`);
  return Object.keys(are).filter((part) => are[part] > MOST_BYTES[part]).map((part) => `${are[part]} bytes by gzip are loaded, ${part}, and ${MOST_BYTES[part]} may be`);
}

// The step as it is runs without the rest of the module; what needs it says so where it cannot be loaded.
async function without_rest(folder, lab) {
  const worker = await open(folder, 'lab', false), { verdict } = await worker.ask('run', message(worker, lab, lab.runs[0]));
  const told = await worker.ask('watch', { block: 0 }).then(() => 'watched', ({ message: text }) => text), wrong = [];
  if (!['right', 'ran'].includes(verdict)) wrong.push(`${lab.step} is ${verdict} without the rest of the module`);
  if (!/could not be loaded/.test(told)) wrong.push(`${lab.step}, watched without the rest of the module: ${told}`);
  return wrong;
}

async function main() {
  const [build, option] = process.argv.slice(2), wrong = [];
  const lacking = missing(false, { folder: book, browser: false });
  const folder = mkdtempSync(join(tmpdir(), 'labs-'));
  try {
    const version = lacking.length ? null : await copy_labs(resolve(build), folder);
    if (!version) {
      console.log(`skipped: ${lacking[0] ?? 'the build has no labs: emcc is not on the PATH'}`);
      return 77;
    }
    const used = await open(folder), labs = lab_list().map(({ step }) => lab_of(resolve(build), step, version)).filter(Boolean);
    if (option === '--time') {
      for (const lab of labs.filter(({ type }) => type !== null)) await time(used, lab);
      return 0;
    }
    wrong.push(...sizes(folder));
    const all = labs.flatMap((lab) => lab.runs.map((run) => ({ lab, run }))), chosen = sample(all, 5);
    for (const lab of sample(labs, 5)) wrong.push(...await without_rest(folder, lab));
    for (const { lab, run } of chosen) {
      const worker = run.wrong ? await open(folder) : used;  // what is wrong, as a page's first run
      const { wrong: found, stuck, verdict, findings, ms } = await compare(resolve(build), worker, lab, run), differs = await watched(worker, stuck);
      console.log(`${lab.step} ${run.id}: ${verdict}, ${findings} findings, ${ms.toFixed(0)} ms`);
      if (differs) wrong.push(`${lab.step} ${run.id}, watched: ${differs}`);
      if (found) wrong.push(`${lab.step} ${run.id}: the page differs in ${found}`);
    }
    for (const line of wrong) console.error(line);
    console.log(`${chosen.length} of ${all.length} runs compared; ${wrong.length || 'nothing'} wrong`);
    return wrong.length ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`labs: ${error.stack}`);
  process.exitCode = 1;
});
