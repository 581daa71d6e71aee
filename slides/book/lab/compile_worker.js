// The compiler beside the page: each message { id, call, args } is answered by { id, result } or { id, error }. While the
// compiler is loaded, messages { done, bytes } come between them.
import { runLLVM } from '@yowasp/clang';
import { decompress } from 'brotli/decompress';
import core2 from 'clang-core2';
import core3 from 'clang-core3';
import core4 from 'clang-core4';
import { give_modules } from './compile_given.js';
import { to_ptx } from './compile.mjs';
import Irptx from 'irptx-module';
import irptx from 'irptx-binary';
import { translator } from './compile_translate.js';

const translate = translator(() => Irptx({ wasmBinary: irptx }));

const KEPT = 'gemm-steps compiler';

// Without storage (a private window, or a page that is not served by https) the file is fetched each time.
const kept = async () => (typeof caches === 'undefined' ? null : caches.open(KEPT).catch(() => null));

// Of a compiler that has another address by now.
async function drop_others(cache, url) {
  for (const { url: other } of await cache.keys()) if (other !== url) await cache.delete(other);
}

async function downloaded(url, bytes) {
  const cache = await kept(), known = await cache?.match(url), response = known ?? await fetch(url);
  if (!response.ok) throw new Error(`${url} gave ${response.status}`);
  const all = new Uint8Array(bytes), reader = response.body.getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (at + part.value.length > bytes) throw new Error(`${url} is longer than ${bytes} bytes`);
    all.set(part.value, at);
    at += part.value.length;
    if (!known) postMessage({ done: at, bytes });
  }
  if (at < bytes) throw new Error(`${url} ended after ${at} of ${bytes} bytes`);
  if (cache && !known) await cache.put(url, new Response(all)).then(() => drop_others(cache, url)).catch(() => {});  // no room
  return all;
}

const calls = {
  // url, bytes: of the file with clang; whole: its size when it is unpacked. Or module: what was answered to another worker.
  async open({ url, bytes, whole, module }) {
    const core = module ?? await WebAssembly.compile(decompress(await downloaded(url, bytes), whole));
    const [second, third, fourth] = await Promise.all([core2, core3, core4].map((binary) => WebAssembly.compile(binary)));
    give_modules({ 'llvm.core.wasm': core, 'llvm.core2.wasm': second, 'llvm.core3.wasm': third, 'llvm.core4.wasm': fourth });
    return core;
  },

  // { ptx, files } or { errors }. files: the course's headers whose lines are in the PTX.
  async compile({ source, arch }) {
    const { ptx, errors } = await to_ptx(runLLVM, translate, COURSE_HEADERS, source, arch);
    if (errors) return { errors };
    const used = Object.entries(COURSE_HEADERS).map(([path, text]) => [path.replace(/^.*\//, ''), text]).filter(([name]) => ptx.includes(`"${name}"`));
    return { ptx, files: Object.fromEntries(used) };
  },
};

onmessage = async ({ data: { id, call, args } }) => {
  try {
    postMessage({ id, result: await calls[call](args) });
  } catch (error) {
    postMessage({ id, error: `${error.message ?? error}` });
  }
};
