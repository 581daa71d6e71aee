// Random edits of the steps, as a learner may make them: a letter, a word or a line. Each is compiled as in the page and run in
// the page's worker, and ends with errors of the compiler or with a run. Nothing may crash, and a run ends by itself.
//
//   node slides/edits_test.mjs BUILD [COUNT [SEED]]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { to_ptx } from './book/lab/compile.mjs';
import { headers, load_clang, load_translator } from './book/lab/compile_files.mjs';
import { open } from './book/lab/harness.mjs';
import { course_headers, lab_list } from './book/lab_list.mjs';
import { copy_labs, lab_of } from './book/labs.mjs';
import { book } from './book/make.mjs';
import { arch_of, type_of } from './book/theme/edit.js';
import { verdict_of } from './book/theme/lab.js';
import { read } from './project.mjs';
import { missing } from './tools.mjs';

const SIZE = 64, LONGEST = 60_000;  // of M, N and K; ms that a run may take

// The same numbers for the same seed: a linear congruential generator.
function random_of(seed) {
  let state = BigInt(seed) * 2n + 1n;
  return (n) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(n));
  };
}

const letters = ';(){}[]+-*/%<>=&|!,.0123456789abkx \n';

const edits = {
  letter_gone: (text, random) => { const at = random(text.length); return text.slice(0, at) + text.slice(at + 1); },
  letter_more: (text, random) => { const at = random(text.length); return text.slice(0, at) + letters[random(letters.length)] + text.slice(at); },
  word_gone: (text, random) => with_words(text, (words) => words.splice(random(words.length), 1)),
  words_swapped: (text, random) => with_words(text, (words) => { const [a, b] = [random(words.length), random(words.length)]; [words[a], words[b]] = [words[b], words[a]]; }),
  word_twice: (text, random) => with_words(text, (words) => { const at = random(words.length); words.splice(at, 0, words[at]); }),
  number_changed: (text, random) => with_words(text, (words) => { const all = words.flatMap((word, i) => (/^\d+$/.test(word) ? [i] : [])), at = all[random(all.length)]; words[at] = String([0, 1, 2, 3, 7, 16, 33, 64, 1000][random(9)]); }),
  line_gone: (text, random) => with_lines(text, (lines) => lines.splice(random(lines.length), 1)),
  line_twice: (text, random) => with_lines(text, (lines) => { const at = random(lines.length); lines.splice(at, 0, lines[at]); }),
  lines_swapped: (text, random) => with_lines(text, (lines) => { const at = random(lines.length - 1); lines.splice(at, 2, lines[at + 1], lines[at]); }),
};

function with_parts(parts, change, joint) {
  change(parts);
  return parts.join(joint);
}
const with_words = (text, change) => with_parts(text.match(/\w+|\s+|[^\w\s]/g), change, '');
const with_lines = (text, change) => with_parts(text.split('\n'), change, '\n');

// One edit: what came of it, or an Error.
async function attempt(compile, worker, { lab, text, arch }) {
  const { ptx, errors } = await compile(text, arch);
  if (errors) {
    if (!errors.length || errors.some((one) => !one.text || /the compiler itself stopped/.test(one.text))) throw new Error(`errors without words: ${JSON.stringify(errors)}`);
    return errors.some(({ refused }) => refused) ? 'refused' : 'does not compile';
  }
  const [run] = lab.runs, begun = Date.now();
  const result = await worker.ask('run', { ptx: 'kernel.ptx', entry: run.entry, number: run.number, type: type_of(ptx, lab.type), m: SIZE, n: SIZE, k: SIZE, alpha: 1, beta: 0,
    files: { ...course_headers(), 'kernel.ptx': ptx, 'kernel.cu': text } });
  if (Date.now() - begun > LONGEST) throw new Error(`the run took ${Date.now() - begun} ms`);
  return verdict_of(result);
}

async function main() {
  const [build, count = 6, seed = 1] = process.argv.slice(2), lacking = missing(false, { folder: book, browser: false });
  const folder = mkdtempSync(join(tmpdir(), 'edits-')), wrong = [], ends = {};
  try {
    const translate = lacking.length ? null : load_translator(resolve(build)), version = translate && await copy_labs(resolve(build), folder);
    if (!version) {
      console.log(`skipped: ${lacking[0] ?? 'the build has no labs: emcc is not on the PATH'}`);
      return 77;
    }
    const labs = lab_list().map(({ step }) => lab_of(resolve(build), step, version)).filter(Boolean), random = random_of(seed), runLLVM = await load_clang();
    const compile = (text, arch) => to_ptx(runLLVM, translate, headers(), text, arch), names = Object.keys(edits);
    let worker = await open(folder);
    // The lesson's own edit: step 02 in double.
    const tile = labs.find(({ step }) => step === '02_smem_tile'), double = read('steps/02_smem_tile/kernel.cu').replace('#define REAL float', '#define REAL double');
    const in_double = tile && await attempt(compile, worker, { lab: tile, text: double, arch: 'sm_75' }).catch((error) => error.message);
    if (tile && in_double !== 'right') wrong.push(`02 in double: ${in_double}`);
    for (let i = 0; i < Number(count); i++) {
      const lab = labs[random(labs.length)], name = names[random(names.length)], source = read(`steps/${lab.step}/kernel.cu`), text = edits[name](source, random);
      const arch = arch_of(worker.text(`${lab.step}.ptx`));
      const end = await attempt(compile, worker, { lab, text, arch }).catch((error) => error);
      const key = end instanceof Error ? 'broke' : end;
      ends[key] = (ends[key] ?? 0) + 1;
      if (!(end instanceof Error)) continue;
      wrong.push(`edit ${i} of seed ${seed}, ${name} in ${lab.step}: ${end.message.slice(0, 300)}`);
      worker = await open(folder);
    }
    for (const line of wrong) console.error(line);
    console.log(`${count} edits: ${Object.entries(ends).map(([end, n]) => `${n} ${end}`).join(', ')}`);
    return wrong.length ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`edits: ${error.stack}`);
  process.exitCode = 1;
});
