// The labs of the chapters: what they run, read from steps/variants, and the files that the page loads for it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as bundle } from 'esbuild';
import { written_out } from '../places.mjs';
import { fail, read, root, slides } from '../project.mjs';
import { describe } from '../programs.mjs';
import { metric } from '../results.mjs';
import { blocks } from './changes.mjs';
import { exercises } from './exercise_pages.mjs';
import { kernel_of } from './pages.mjs';

const headers = ['edges.cuh', 'ampere.cuh', 'hopper.cuh', 'add_up.cuh'];
const types = ['f32', 'f64', 'f16'];  // enum dev_type
const list = 'steps/variants/labs.txt', variants = 'steps/variants/variants.txt';

// --- the list ---

// Each variant's step, whether it is a mistake, and its words: those of its part, and what is different.
function variant_rows() {
  const rows = read(variants).matchAll(/^(\w+) +(\w+) \d+ (\w+) ([^:\n]+: .*)$/gm);
  return new Map([...rows].map(([, name, step, kind, words]) => [name, { step, wrong: kind === 'wrong', words: kind === 'wrong' ? words : `${kind} ${words}` }]));
}

const number = /^(m|n|k|alpha|beta)=([-\d.]+)$/;

function run_of(step, size, line, rows) {
  const [head, words] = line.split(/ *: +/), [name, ...rest] = head.trim().split(/ +/), row = rows.get(name);
  const asked = Object.fromEntries(rest.map((text) => text.match(number)?.slice(1) ?? fail(`${list}: ${text} in "${line.trim()}"`)));
  if (name !== 'itself' && row?.step !== step) fail(`${list}: ${variants} has no ${name} of ${step}`);
  if ((name === 'itself') !== Boolean(words)) fail(`${list}: "${line.trim()}": "itself" has words of its own, and nothing else has`);
  const { m, n, k, alpha = 1, beta = 0 } = { ...size, ...asked };
  return { id: head.trim(), kernel: name === 'itself' ? step : name, words: words ?? row.words, wrong: row?.wrong ?? false,
    m: Number(m), n: Number(n), k: Number(k), alpha: Number(alpha), beta: Number(beta) };
}

// "banks stride=2: words": a launch of a kernel that is no step.
function launch_of(step, line) {
  const [, id, entry, stride, words] = line.match(/^ {2}((\w+) stride=(\d+)): (.*)$/) ?? fail(`${list}: "${line.trim()}"`);
  return { id, kernel: step, entry, number: Number(stride), words, wrong: false };
}

// [{ step, m, n, k, runs: [{ id, kernel, words, wrong, m, n, k, alpha, beta, ask, question, see }] }]; the first run is the
// step as it is. Without sizes runs are launches: { id, kernel, entry, number, words, wrong, ask, question, see }.
export function lab_list() {
  const rows = variant_rows(), found = [];
  for (const line of read(list).split('\n').filter((text) => text.trim() && !text.startsWith('#'))) {
    const lab = found.at(-1), run = lab?.runs.at(-1), [, sign, text] = line.match(/^ {4}([?>]) (.*)$/) ?? [];
    if (sign === '?') [, run.ask, run.question] = text.match(/^(\w+): (.*)$/) ?? fail(`${list}: "${text}"`);
    else if (sign === '>') run.see = text;
    else if (line.startsWith('  ')) lab.runs.push(lab.k ? run_of(lab.step, lab, line, rows) : launch_of(lab.step, line));
    else {
      const [step, m, n, k] = line.split(' ');
      found.push({ step, m, n, k, runs: [] });
      if (k) found.at(-1).runs.push(run_of(step, { m, n, k }, 'itself: the step as it is', rows));
    }
  }
  return found;
}

// --- its files, in a folder of the site ---

export const course_headers = () => Object.fromEntries(headers.map((name) => [name, read(`common/${name}`)]));

const source_of = (build, step, kernel) =>
  (kernel === step ? join(root, kernel_of(step)) : join(build, 'steps', 'variants', `${kernel}.cu`));
const ptx_of = (build, step, kernel) => join(build, 'steps', kernel === step ? step : 'variants', `${kernel}.ptx`);

// The PTX as the page has it: its files have no folders, and the kernel's own is kernel.cu.
export function plain_ptx(text, kernel) {
  return text.replace(/^(\t\.file\t\d+ ).*?([^"/]+)"(, .*)?$/gm, (all, begin, name) =>
    `${begin}"${name === `${kernel}.cu` ? 'kernel.cu' : name}"`);
}

// Which lines came in place of which: [{ at, fresh, old }]; at: the first line that came, fresh: how many did.
function changes(before, after) {
  let at = 1;
  return blocks(before, after).flatMap((block) => {
    const from = at;
    at += (block.same ?? block.fresh).length;
    return block.same ? [] : [{ at: from, fresh: block.fresh.length, old: block.old.map(({ text }) => text) }];
  });
}

function kernel_about(build, step, kernel) {
  const time = join(build, 'slides', `${kernel}.time.json`);
  const ptx = readFileSync(ptx_of(build, step, kernel), 'utf8');
  return { changed: changes(source_of(build, step, step), source_of(build, step, kernel)),
    headers: headers.filter((name) => ptx.includes(`/${name}"`)),
    time: existsSync(time) ? JSON.parse(readFileSync(time, 'utf8')) : null };
}

const built = (build, { step }) => existsSync(ptx_of(build, step, step));

// What a chapter's page says of its lab; null where there is none.
export function lab_of(build, step, version, compiler = null) {
  const lab = lab_list().find((one) => one.step === step);
  if (!lab || !version || !built(build, lab)) return null;
  const kernels = [...new Set(lab.runs.map(({ kernel }) => kernel))];
  const counters = Object.fromEntries(lab.runs.map(({ ask }) => ask).filter((ask) => ask && !['verdict', 'time'].includes(ask))
    .map((ask) => [ask, metric(ask)]));
  // Where no time was predicted, nobody is asked for one.
  const about = Object.fromEntries(kernels.map((kernel) => [kernel, kernel_about(build, step, kernel)]));
  const timed = ({ kernel }) => about[kernel].time?.ms && about[kernels[0]].time?.ms;
  const runs = lab.runs.map((run) => (run.ask === 'time' && !timed(run) ? { ...run, ask: undefined, question: undefined } : run));
  return { step, version, compiler, type: lab.k ? types.indexOf(describe(build, step).type) : null, runs, counters, kernels: about };
}

// NAME.wasm, and the worker that runs it: lab for the chapters, bench for exercises and the bench.
async function copy_module(build, name, folder, put) {
  const worker = await bundle({ entryPoints: [join(slides, 'book', 'lab', 'worker.js')], write: false, bundle: true, minify: true, format: 'iife',
    alias: { 'lab-module': join(build, 'slides', `${name}.js`) }, logLevel: 'error' });
  put(`${name}_worker.js`, worker.outputFiles[0].contents);
  put(`${name}.wasm.gz`, packed(readFileSync(join(build, 'slides', `${name}.wasm`))));
}

// Hosts compress scripts and pages, but hardly a file of a kind that they do not know, and not all of them a module.
const packed = (content) => gzipSync(content, { level: 9 });

// Leaves all that the labs load in the folder; what a worker is given is packed. Returns a text that changes with it, or null
// where the build has no labs.
export async function copy_labs(build, folder) {
  const hash = createHash('sha256');
  if (!existsSync(join(build, 'slides', 'lab.wasm'))) return null;
  mkdirSync(folder, { recursive: true });
  const put = (name, content) => {
    hash.update(name).update(content);
    writeFileSync(join(folder, name), content);
  };
  for (const name of ['lab', 'bench']) await copy_module(build, name, folder, put);
  const put_text = (name, text) => put(`${name}.gz`, packed(text));
  for (const [header, text] of Object.entries(course_headers())) put_text(header, text);
  for (const { name } of exercises()) put_text(`${name}.source.cu`, read(`exercises/${name}/source.cu`));
  for (const { step, runs } of lab_list().filter((lab) => built(build, lab)))
    for (const kernel of new Set(runs.map((run) => run.kernel))) {
      put_text(`${kernel}.cu`, readFileSync(source_of(build, step, kernel)));
      put_text(`${kernel}.ptx`, plain_ptx(readFileSync(ptx_of(build, step, kernel), 'utf8'), kernel === step ? 'kernel' : kernel));
    }
  return hash.digest('hex').slice(0, 12);
}

// --- in the chapter's text ---

// The kernels of the lab of which a part of a chapter speaks: those whose output or counters it shows.
function spoken_of(lab, part) {
  const names = [...part.matchAll(/variants\/(\w+)\.ptx|<!-- table: counters ([^:]*):/g)].flatMap(([, name, list]) =>
    (name ? [name] : list.match(/\w+(?==)|\w+/g)));
  return lab.runs.filter(({ kernel }) => kernel !== lab.step && names.includes(kernel));
}

// The chapter with its panel at its end, and links to it: below its title, and below each heading of a part that speaks of an
// experiment.
export function with_lab(lab, text) {
  if (!lab) return text;
  const link = (words, query = '') => `[${words}](/chapters/${lab.step}${query}#run-it)`;
  const parts = written_out(text).split(/^(?=## )/m).map((part) => {
    const runs = part.startsWith('## ') ? spoken_of(lab, part) : [];
    const line = `In the lab: ${runs.map(({ words, kernel }) => link(words, `?lab=${kernel}`)).join('; ')}`;
    return runs.length ? part.replace(/^## .*$/m, (heading) => `${heading}\n\n${line}\n`) : part;
  });
  const json = JSON.stringify(lab).replace(/[&'<>{}]/g, (c) => `&#${c.charCodeAt(0)};`);
  return `${parts.join('')}\n\n## Run it, break it {#run-it}\n\n<TheLab :lab='${json}' />\n`;
}
