// The WebAssembly module answers as the program simt does: usage: node module_test.mjs SIMT SIMT.js KERNEL.ptx
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import assert from 'node:assert';
import { isDeepStrictEqual } from 'node:util';

const [program, module_path, ptx_path] = process.argv.slice(2);
const m = await createRequire(import.meta.url)(resolve(module_path))({ wasmBinary: readFileSync(module_path.replace(/\.js$/, '.wasm')) });

const text_at = (at) => m.UTF8ToString(at);
const error = () => text_at(m._simt_wasm_error());
function put(text) {
  const bytes = m.lengthBytesUTF8(text), at = m._malloc(bytes + 1);
  m.stringToUTF8(text, at, bytes + 1);
  return { at, bytes };
}

const name = put('kernel.ptx'), source = put(readFileSync(ptx_path, 'utf8'));
function open() {
  const s = m._simt_wasm_open(), loaded = m._simt_wasm_load(s, name.at, source.at, source.bytes);
  assert(loaded, error());
  return [s, loaded];
}
const [first, loaded] = open();
const about = JSON.parse(text_at(m._simt_wasm_describe(loaded)));

// A kernel that there is not, and one that there is.
assert.equal(m._simt_wasm_kernel(loaded, put('nothing').at), 0);
assert.match(error(), /there is no kernel 'nothing'/);
const entry = about.kernels.find((k) => k.name === 'sectors');
assert(entry, 'the file has the kernel');
const kernel = m._simt_wasm_kernel(loaded, put('sectors').at);
const listed = JSON.parse(text_at(m._simt_wasm_instructions(kernel))).instructions;
assert.equal(listed.length, entry.instructions);
assert(listed.some((i) => i.places[0]?.file.endsWith('kernel.cu')));

m._simt_wasm_close(first);

// sectors(stride, in, out) reads in[stride * lane]; a stride that is too long is out of bounds.
const IN = 64, LANES = 32, sizes = m._malloc(40), params = m._malloc(64);
function array(s, what, values) {
  const bytes = 4 * values.length, address = m._simt_wasm_alloc(s, put(what).at, bytes), host = m._malloc(bytes);
  assert(address, error());
  new Float32Array(m.HEAPU8.buffer, host, values.length).set(values);
  assert(m._simt_wasm_write(s, address, host, bytes), error());
  return address;
}
function fill_in(s, stride) {  // the arguments and sizes of a launch; returns the address of out
  const from = array(s, 'in', Array.from({ length: IN }, (_, i) => i)), to = array(s, 'out', new Array(LANES).fill(0));
  const view = new DataView(m.HEAPU8.buffer);
  [stride, from, to].forEach((value, i) => {
    const p = entry.parameters[i];
    if (p.bytes === 8) view.setBigUint64(params + p.at, value, true);
    else view.setInt32(params + p.at, value, true);
  });
  new Uint32Array(m.HEAPU8.buffer, sizes, 10).set([1, 1, 1, LANES, 1, 1, 0, 0, 0, 0]);
  return to;
}
function launch(checks, stride) {
  const [s, module] = open(), kernel = m._simt_wasm_kernel(module, put('sectors').at);
  m._simt_wasm_set_checks(s, checks);
  const to = fill_in(s, stride);
  const ok = m._simt_wasm_launch(s, kernel, sizes, params), back = m._malloc(4 * LANES);
  assert(m._simt_wasm_read(s, back, to, 4 * LANES), error());
  const result = ok && JSON.parse(text_at(m._simt_wasm_result(s)));
  m._simt_wasm_close(s);
  return { ok, out: [...new Float32Array(m.HEAPU8.buffer, back, LANES)], result };
}
function natively(verb, stride) {
  const run = [verb, ptx_path, 'sectors', '--grid', '1', '--block', LANES, '--json', '-', `i32:${stride}`, `in=f32[${IN}]=iota`,
    `out=f32[${LANES}]=zeros`];
  try {
    return JSON.parse(execFileSync(program, run, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch (e) {
    if (e.status === 1) return JSON.parse(e.stdout);  // findings
    throw e;
  }
}
const same = (a, b) => assert(isDeepStrictEqual(a, b), `${JSON.stringify(a)}\n${JSON.stringify(b)}`);

// A watched warp: what its loads bring is what their addresses hold, and the launch ends where it was asked to.
function watch(from, count) {
  const [s, module] = open(), kernel = m._simt_wasm_kernel(module, put('sectors').at);
  fill_in(s, 2);
  const seen = JSON.parse(text_at(m._simt_wasm_watch(s, kernel, sizes, params, 0, 0, from, count)));
  m._simt_wasm_close(s);
  return seen;
}
const seen = watch(0, 1000), load = seen.steps.find((step) => listed[step.instruction].text.startsWith('ld.global.f32'));
assert.deepEqual(seen.steps.map((step) => step.step), seen.steps.map((_, i) => i));
assert.equal(seen.steps.length, listed.length);
const bits = new DataView(new ArrayBuffer(4));
const floats = load.operands[0].value.map((v) => (bits.setUint32(0, Number(v)), bits.getFloat32(0)));
assert.deepEqual(floats, Array.from({ length: LANES }, (_, i) => 2 * i));
assert.equal(BigInt(load.operands[1].value[1]) - BigInt(load.operands[1].value[0]), 8n);
assert.deepEqual(watch(2, 3).steps, seen.steps.slice(2, 5));

const right = launch(false, 2);
assert(right.ok, error());
assert.deepEqual(right.out, Array.from({ length: LANES }, (_, i) => 2 * i));
same(right.result, natively('profile', 2));
const wrong = launch(true, 3);
assert(wrong.ok, error());
assert(wrong.result.findings.length > 0);
same(wrong.result, natively('check', 3));
assert.equal(launch(false, 3).ok, 0);
assert.match(error(), /out of bounds/);

// WebAssembly rounds to nearest alone; .rz, .rm and .rp are right nevertheless. 0f30800000 is 2^-30.
const roundings = ['add.rz.f32 f, 0f3f800000, 0fb0800000', 'add.rp.f32 f, 0f3f800000, 0f30800000', 'add.rm.f32 f, 0f3f800000, 0f30800000',
  'fma.rp.f32 f, 0f3f800000, 0f3f800000, 0f30800000', 'div.rz.f32 f, 0f40000000, 0f40400000', 'sub.rm.f32 f, 0f3f800000, 0f3f800000'];
const rounded = [1 - 2 ** -24, 1 + 2 ** -23, 1, 1 + 2 ** -23, 11184810 / 2 ** 24, -0];
const text = put(`.version 7.0
.target sm_75
.address_size 64
.visible .entry rounded(.param .u64 to) {
.reg .f32 f;
.reg .u64 p;
ld.param.u64 p, [to];
${roundings.map((instruction, i) => `${instruction};\nst.global.f32 [p+${4 * i}], f;`).join('\n')}
ret;
}`);
const s = m._simt_wasm_open(), into = array(s, 'to', new Array(LANES).fill(7)), read = m._malloc(4 * LANES);
const module = m._simt_wasm_load(s, name.at, text.at, text.bytes);
assert(module, error());
new DataView(m.HEAPU8.buffer).setBigUint64(params, into, true);
new Uint32Array(m.HEAPU8.buffer, sizes, 10).set([1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
assert(m._simt_wasm_launch(s, m._simt_wasm_kernel(module, put('rounded').at), sizes, params), error());
assert(m._simt_wasm_read(s, read, into, 4 * LANES), error());
assert.deepEqual([...new Float32Array(m.HEAPU8.buffer, read, rounded.length)], rounded);
console.log('the module and the program agree');
