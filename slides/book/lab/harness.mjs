// The page's worker under Node, as the page uses it: the same file, the same messages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { gunzipSync } from 'node:zlib';

// folder: where the labs' files are; module: as open_worker of theme/lab.js has it. Resolves to { ask(call, args), text(name) }; ask fails as the page's does.
export async function open(folder, module = 'lab') {
  const waiting = new Map(), progress = [], unpacked = (name) => gunzipSync(readFileSync(join(folder, `${name}.gz`)));
  let next = 0;
  const self = { location: { href: `http://localhost/labs/${module}_worker.js` }, performance, WebAssembly, console, TextDecoder, setTimeout,
    clearTimeout, URL, importScripts() {},
    postMessage({ id, result, error, ...rest }) {
      if (!id) return progress.push(rest);
      const { done, fail } = waiting.get(id);
      return error === undefined ? done(structuredClone(result)) : fail(new Error(error));
    } };
  self.self = self;
  vm.runInNewContext(readFileSync(join(folder, `${module}_worker.js`), 'utf8'), self);
  const ask = (call, args) => new Promise((done, fail) => {
    waiting.set(++next, { done, fail });
    self.onmessage({ data: { id: next, call, args } });
  });
  await ask('open', await WebAssembly.compile(unpacked(`${module}.wasm`)));
  return { ask, progress, text: (name) => unpacked(name).toString() };
}

// What the page sends for a run of a lab. lab: of labs.mjs's lab_of.
export function message({ text }, lab, { kernel, entry, number, m, n, k, alpha, beta }) {
  const names = lab.kernels[kernel].headers, files = Object.fromEntries(names.map((name) => [name, text(name)]));
  return { ptx: 'kernel.ptx', entry, number, type: lab.type, m, n, k, alpha, beta,
    files: { 'kernel.ptx': text(`${kernel}.ptx`), 'kernel.cu': text(`${kernel}.cu`), 'course.cu': text(`${lab.step}.cu`), ...files } };
}
