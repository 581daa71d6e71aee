// The page's worker under Node, as the page uses it: the same file, the same messages.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { gunzipSync } from 'node:zlib';

// script: the worker's text; main, rest: compiled modules, as theme/lab.js sends them; rest null: it cannot be loaded. Resolves to
// { ask(call, args), progress }; ask fails as the page's does.
export async function open_script(script, main, rest, engine = WebAssembly) {
  const waiting = new Map(), progress = [];
  let next = 0;
  const self = { location: { href: 'http://localhost/labs/lab_worker.js' }, performance, WebAssembly: engine, console, TextDecoder, setTimeout,
    clearTimeout, URL, importScripts() {},
    postMessage({ id, result, error, ...more }) {
      if (more.rest) return void ask('rest', rest);
      if (!id) return progress.push(more);
      const { done, fail } = waiting.get(id);
      return error === undefined ? done(structuredClone(result)) : fail(new Error(error));
    } };
  self.self = self;
  vm.runInNewContext(script, self);
  const ask = (call, args) => new Promise((done, fail) => {
    waiting.set(++next, { done, fail });
    self.onmessage({ data: { id: next, call, args } });
  });
  await ask('open', main);
  return { ask, progress };
}

// folder: where the labs' files are; module: as open_worker of theme/lab.js has it. whole false: the rest of it cannot be loaded.
// text(name): a file that a run reads.
export async function open(folder, module = 'lab', whole = true) {
  const unpacked = (name) => gunzipSync(readFileSync(join(folder, `${name}.gz`)));
  const rest = `${module}_rest.wasm`, there = whole && existsSync(join(folder, `${rest}.gz`));
  const worker = await open_script(readFileSync(join(folder, `${module}_worker.js`), 'utf8'), await WebAssembly.compile(unpacked(`${module}.wasm`)),
    there ? await WebAssembly.compile(unpacked(rest)) : null);
  return { ...worker, text: (name) => unpacked(name).toString() };
}

// What the page sends for a run of a lab. lab: of labs.mjs's lab_of.
export function message({ text }, lab, { kernel, entry, number, m, n, k, alpha, beta }) {
  const names = lab.kernels[kernel].headers, files = Object.fromEntries(names.map((name) => [name, text(name)]));
  return { ptx: 'kernel.ptx', entry, number, type: lab.type, m, n, k, alpha, beta,
    files: { 'kernel.ptx': text(`${kernel}.ptx`), 'kernel.cu': text(`${kernel}.cu`), 'course.cu': text(`${lab.step}.cu`), ...files } };
}
