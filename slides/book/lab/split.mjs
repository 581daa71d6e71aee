// Parts the labs' module in two: what a first run calls, which is that of each step as it is, and the rest, which a page loads behind
// its first result. binaryen's wasm-split writes down what these runs call, and parts it so.
//
//   node split.mjs BUILD LAB.js FIRST.wasm REST.wasm     LAB.wasm lies beside LAB.js
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built, headers_of, lab_list, lab_texts, type_of } from '../lab_list.mjs';
import { read } from '../../project.mjs';
import { message, open_script } from './harness.mjs';

const features = ['simd', 'bulk-memory', 'mutable-globals', 'sign-ext', 'nontrapping-float-to-int'].map((name) => `--enable-${name}`);
const binaryen = (program, ...words) => execFileSync(program, [...features, ...words], { stdio: 'inherit' });

// What an instrumented module was asked to do, as wasm-split reads it.
async function profile(build, loader, module) {
  let exported;
  const engine = { ...WebAssembly, Module: WebAssembly.Module, instantiate: async (...given) => {
    const instance = await WebAssembly.instantiate(...given);
    exported = instance.exports;
    return instance;
  } };
  const script = `${loader}\n${read('slides/book/lab/worker.js').replace(/^import .*$/m, '')}`;
  const worker = await open_script(script, await WebAssembly.compile(module), null, engine), texts = lab_texts(build);
  for (const lab of lab_list().filter((one) => built(build, one))) {
    const { step, runs: [run] } = lab, about = { step, type: type_of(build, lab), kernels: { [step]: { headers: headers_of(build, step, step) } } };
    const { verdict, error } = await worker.ask('run', message({ text: (name) => texts.get(name) }, about, run));
    if (!['right', 'ran'].includes(verdict)) throw new Error(`${step} is ${verdict}: ${error ?? ''}`);
  }
  const bytes = exported.__write_profile(0, 0), at = exported.malloc(bytes);
  exported.__write_profile(at, bytes);
  return new Uint8Array(exported.memory.buffer, at, bytes);
}

async function main() {
  const [build, loader, first, rest] = process.argv.slice(2), whole = loader.replace(/js$/, 'wasm'), folder = mkdtempSync(join(tmpdir(), 'split-'));
  const [instrumented, called] = ['module', 'called'].map((name) => join(folder, name));
  try {
    binaryen('wasm-split', '--instrument', whole, '-o', instrumented);
    writeFileSync(called, await profile(build, readFileSync(loader, 'utf8'), readFileSync(instrumented)));
    binaryen('wasm-split', '--split', whole, '--profile', called, '-o1', first, '-o2', rest, '--export-prefix=%');
    for (const part of [first, rest]) binaryen('wasm-opt', '-Oz', part, '-o', part);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

main().catch((error) => {
  console.error(`split: ${error.stack}`);
  process.exitCode = 1;
});
