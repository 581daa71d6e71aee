// What the compiler of the pages is made of: clang, the course's headers, and the worker, in the folder of the labs.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, renameSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { root } from '../../project.mjs';
import { translator } from './compile_translate.js';

const here = dirname(fileURLToPath(import.meta.url)), clang = join(here, '..', 'node_modules', '@yowasp', 'clang', 'gen');
const folders = [['common', 'common', /\.cuh$/], ['common/clang', 'clang', /\.h$/], ['common/clang/bare', 'clang/bare', /./]];

// Headers of C, C++ and CUDA that kernels include for what the compiler has told already, or for what another has.
const said_already = ['stdio.h', 'stdlib.h', 'cstdio', 'cstdlib', 'device_launch_parameters.h', 'cuda_runtime_api.h'];
const by_others = { cfloat: 'float.h', climits: 'limits.h', cmath: 'math.h', cassert: 'assert.h', cstring: 'string.h',
  'cooperative_groups/reduce.h': 'cooperative_groups.h', 'cooperative_groups/scan.h': 'cooperative_groups.h' };

// { path: text } of the course's headers, and of those that stand in for CUDA's.
export function headers() {
  const named = [...said_already.map((name) => [name, '']), ...Object.entries(by_others).map(([name, other]) => [name, `#include "${other}"\n`])];
  const stand_in = Object.fromEntries(named.map(([name, text]) => [`clang/bare/${name}`, text]));
  return Object.assign(stand_in, Object.fromEntries(folders.flatMap(([from, to, wanted]) => readdirSync(join(root, from), { withFileTypes: true })
    .filter((file) => file.isFile() && wanted.test(file.name)).map(({ name }) => [`${to}/${name}`, readFileSync(join(root, from, name), 'utf8')]))));
}

// clang's front end under Node, which reads its modules from the package.
export const load_clang = async () => (await import('@yowasp/clang')).runLLVM;

const irptx_of = (build) => join(build, 'common', 'irptx', 'wasm', 'irptx');

// The course's translator under Node: translate(ir); null where the build has none.
export function load_translator(build) {
  const irptx = irptx_of(build);
  if (!existsSync(`${irptx}.wasm`)) return null;
  return translator(() => createRequire(import.meta.url)(`${irptx}.js`)({ wasmBinary: readFileSync(`${irptx}.wasm`) }));
}

// A static host may not compress what it serves, and 75 MB are too much to ask for: so the page unpacks. A better quality
// saves 7 % and takes half a minute. The build keeps the file, so that it is made once for each clang.
function packed(bytes, kept) {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_SIZE_HINT: size } = constants;
  if (existsSync(kept)) return readFileSync(kept);
  const file = brotliCompressSync(bytes, { params: { [quality]: 5, [window]: 24, [size]: bytes.length } });
  writeFileSync(`${kept}.new`, file);
  renameSync(`${kept}.new`, kept);  // whole, or not there
  return file;
}

// Leaves clang.wasm.br, clang's licence and compile_worker.js in the folder. Returns what the pages are told: how large clang is, as a file and
// unpacked, its version, and a text that changes with the worker; null where the build has no translator.
export async function copy_compiler(build, folder) {
  const irptx = irptx_of(build);
  if (!existsSync(`${irptx}.wasm`)) return null;
  const release = JSON.parse(readFileSync(join(clang, '..', 'package.json'), 'utf8')).version, whole = readFileSync(join(clang, 'llvm.core.wasm'));
  const sum = createHash('sha256').update(whole).digest('hex').slice(0, 12), file = packed(whole, join(build, 'slides', `clang-${release}-${sum}.wasm.br`)), worker = join(folder, 'compile_worker.js');
  const cores = Object.fromEntries([2, 3, 4].map((n) => [`clang-core${n}`, join(clang, `llvm.core${n}.wasm`)]));
  const alias = { ...cores, 'irptx-module': `${irptx}.js`, 'irptx-binary': `${irptx}.wasm` };
  writeFileSync(join(folder, 'clang.wasm.br'), file);
  copyFileSync(join(here, 'clang.LICENSE.txt'), join(folder, 'clang.LICENSE.txt'));
  const { build: bundle } = await import('esbuild');
  await bundle({ entryPoints: [join(here, 'compile_worker.js')], outfile: worker, bundle: true, minify: true,
    format: 'iife', alias, loader: { '.wasm': 'binary' }, external: ['node:*', 'fs', 'path'], inject: [join(here, 'compile_given.js')],
    define: { 'globalThis.fetch': 'given_fetch', 'WebAssembly.compileStreaming': 'given_compile', 'import.meta.url': '"file:///"',
      COURSE_HEADERS: JSON.stringify(headers()) }, logLevel: 'error' });
  const version = createHash('sha256').update(readFileSync(worker)).digest('hex').slice(0, 12);
  return { bytes: file.length, whole: whole.length, clang: release, version };
}
