// Steps compiled as the page compiles them: right and clean in the simulated GPU, with the counters that nvcc's PTX has, and
// the same text from the WebAssembly module. Skipped with exit 77 where the packages of the book are not installed.
//
//   node tests/irptx/steps_test.mjs BUILD IRPTX.js|- same|other STEP...|all
//
// same: the build's own PTX is nvcc's, so the counters have to be equal; -: there is no module.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { book } from '../../slides/book/make.mjs';
import { missing } from '../../slides/tools.mjs';
import { root } from '../../slides/project.mjs';
import { compiler, steps } from './kernels.mjs';

const [build, module, counters, ...only] = process.argv.slice(2);
const RAGGED = '150x140x70', WHOLE = '256x256x128';  // a shape that no tile divides, and one that all do

// What a learner reads of memory: its requests, sectors and wavefronts.
const compared = /requests_pipe|sectors_pipe|wavefronts_mem|inst_executed_op_(global|shared)_(ld|st)\b/;

function run(name, ptx, args) {
  const own = ptx ? ['--ptx', ptx] : [];
  return spawnSync(join(build, name), ['--device', 'sim', '--once', '--beta', '0.5', ...own, ...args], { encoding: 'utf8' });
}

function metrics(name, ptx) {
  const { stdout } = run(name, ptx, ['--size', WHOLE, '--profile', '--json', '-']);
  const all = JSON.parse(stdout.slice(stdout.indexOf('{'))).metrics;
  return Object.fromEntries(Object.entries(all).filter(([key]) => compared.test(key)));
}

function differences(name, ptx) {
  const want = metrics(name, null), have = metrics(name, ptx);
  if (Object.keys(want).length < 8) return ['the counters have other names'];
  return Object.keys(want).filter((key) => want[key] !== have[key]).map((key) => `${key} is ${have[key]}, of nvcc's PTX ${want[key]}`);
}

async function translator() {
  const m = await createRequire(import.meta.url)(resolve(module))({ wasmBinary: readFileSync(module.replace(/\.js$/, '.wasm')) });
  const put = (text) => {
    const bytes = m.lengthBytesUTF8(text), at = m._malloc(bytes + 1);
    m.stringToUTF8(text, at, bytes + 1);
    return at;
  };
  return (ir) => {
    const at = put(ir), ptx = m._irptx_wasm_translate(at, 0, 0);
    m._free(at);
    return ptx ? m.UTF8ToString(ptx) : m.UTF8ToString(m._irptx_wasm_error());
  };
}

// The registers are numbered in the order in which a compiler of C evaluates arguments, which is not the same for all.
const shape_of = (ptx) => ptx.replace(/%(p|rs?|rd)\d+/g, '%$1').replace(/<\d+>/g, '<>');

function wrong_with(name, to) {
  const ptx = `${to}.ptx`, wrong = [];
  const right = run(name, ptx, ['--size', RAGGED]), clean = run(name, ptx, ['--size', RAGGED, '--sanitize']);
  if (right.status) wrong.push(`not right: ${right.stdout}${right.stderr}`);
  if (clean.status) wrong.push(`not clean: ${clean.stdout}${clean.stderr}`);
  return counters === 'same' ? [...wrong, ...differences(name, ptx)] : wrong;
}

async function main() {
  const lacking = missing(false, { folder: book, browser: false });
  if (lacking.length) {
    console.log(`skipped: ${lacking[0]}`);
    return 77;
  }
  const compile = await compiler(join(build, 'irptx')), translate = module === '-' ? null : await translator();
  const folder = mkdtempSync(join(tmpdir(), 'irptx-')), wrong = [];
  for (const { name, step, arch, defines } of steps()) {
    if ((only[0] !== 'all' && !only.includes(name)) || !existsSync(join(build, name))) continue;
    const to = join(folder, name), refused = await compile(join(root, 'steps', step, 'kernel.cu'), arch, defines, to);
    const found = refused ? [refused] : wrong_with(name, to);
    if (!refused && translate && shape_of(translate(readFileSync(`${to}.ll`, 'utf8'))) !== shape_of(readFileSync(`${to}.ptx`, 'utf8')))
      found.push('the module makes other PTX');
    console.log(`${name}: ${found.length ? found.join('\n  ') : 'right and clean'}`);
    wrong.push(...found);
  }
  rmSync(folder, { recursive: true });
  return wrong.length ? 1 : 0;
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`irptx: ${error.stack}`);
  process.exitCode = 1;
});
