// What the tests of the pages that answer share: answers.wasm, simt, and numbers that look random.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compile_answers } from './book/compile.mjs';
import { load } from './book/theme/wasm.js';

// A function that picks from a list, in the same order with the same seed.
export function random(seed) {
  let state = seed;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return (list) => list[Math.floor(next() * list.length)];
}

// simt's standard output.
export const simt = (build, ...args) => execFileSync(join(build, 'simt'), args.map(String),
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

// An answer, and how long it took; slowest() for all so far. On a busy machine, the time that this process had.
export function timed() {
  let most = 0;
  const answer_in_time = (answer, asked) => {
    const begun = performance.now(), used = process.cpuUsage(), found = answer(asked);
    const { user, system } = process.cpuUsage(used);
    most = Math.max(most, Math.min(performance.now() - begun, (user + system) / 1000));
    return found;
  };
  return { answer: answer_in_time, slowest: () => most };
}

// Runs a test: compare({ loaded, build, folder, wrong }) adds lines to wrong and returns what it did, in words. The exit
// status is 77, a skip, if emcc is missing, or if compare returns null, having said why.
export async function run(name, compare) {
  const build = resolve(process.argv[2] ?? 'build'), folder = mkdtempSync(join(tmpdir(), `${name}-`)), wrong = [];
  try {
    const wasm = join(folder, 'answers.wasm'), lacking = compile_answers(wasm);
    if (lacking) {
      console.log(`skipped: ${lacking}`);
      process.exitCode = 77;
      return;
    }
    const done = await compare({ loaded: await load(readFileSync(wasm)), build, folder, wrong });
    if (done === null) process.exitCode = 77;
    else console.log(`${done}; ${wrong.length || 'nothing'} wrong`);
  } catch (error) {
    wrong.push(`${name}: ${error.stack}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const line of wrong) console.error(line);
  if (wrong.length) process.exitCode = 1;
}
