// The labs of the chapters: what they run, read from steps/variants, and the texts that these runs read.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, read, root } from '../project.mjs';
import { describe } from '../programs.mjs';
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

// --- what its runs read ---

export const course_headers = () => Object.fromEntries(headers.map((name) => [name, read(`common/${name}`)]));

export const source_of = (build, step, kernel) =>
  (kernel === step ? join(root, kernel_of(step)) : join(build, 'steps', 'variants', `${kernel}.cu`));
const ptx_of = (build, step, kernel) => join(build, 'steps', kernel === step ? step : 'variants', `${kernel}.ptx`);

// The PTX as the page has it: its files have no folders, and the kernel's own is kernel.cu.
export function plain_ptx(text, kernel) {
  return text.replace(/^(\t\.file\t\d+ ).*?([^"/]+)"(, .*)?$/gm, (all, begin, name) =>
    `${begin}"${name === `${kernel}.cu` ? 'kernel.cu' : name}"`);
}

// Steps may be left out of a build.
export const built = (build, { step }) => existsSync(ptx_of(build, step, step));

// Those of the course that a kernel includes.
export const headers_of = (build, step, kernel) => {
  const ptx = readFileSync(ptx_of(build, step, kernel), 'utf8');
  return headers.filter((name) => ptx.includes(`/${name}"`));
};

// What a run of the tester takes, of enum dev_type; null for launches.
export const type_of = (build, { step, k }) => (k ? types.indexOf(describe(build, step).type) : null);

// What runs of the labs read, by the names that the page asks for.
export function lab_texts(build) {
  const all = new Map(Object.entries(course_headers()));
  for (const { step, runs } of lab_list().filter((lab) => built(build, lab)))
    for (const { kernel } of runs) {
      all.set(`${kernel}.cu`, readFileSync(source_of(build, step, kernel), 'utf8'));
      all.set(`${kernel}.ptx`, plain_ptx(readFileSync(ptx_of(build, step, kernel), 'utf8'), kernel === step ? 'kernel' : kernel));
    }
  return all;
}
