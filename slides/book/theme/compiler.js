// The compiler of the pages: one for all editors of the book, loaded when it is first asked for.
import { withBase } from 'vitepress';
import { reactive } from 'vue';
import { open_asking } from './asking.js';

export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

let asking = null, core = null;
// One text is compiled after the other. stops: how often all of them were ended.
let turn = Promise.resolve(), stops = 0;
// kept: it is on this machine; done: bytes that have come, while it is loaded.
const state = reactive({ kept: false, loaded: false, done: 0 });

// about: what copy_compiler says. Returns { state, look(), compile(source, arch), prepare(source, arch), stop() }: compile
// resolves to { ptx, files } or { errors }, and fails as open_asking's calls do.
export function use_compiler(about) {
  let prepared = false;
  const url = new URL(withBase(`/labs/clang.wasm.br?${about.clang}`), location.href).href;

  async function begin(send) {
    core = await send('open', { url, bytes: about.bytes, whole: about.whole, module: core });
    state.loaded = state.kept = true;
  }

  // Is it here from another day?
  async function look() {
    try {
      state.kept ||= Boolean(await caches.match(url));
    } catch { /* no storage: it is loaded each time */ }
  }

  function compile(source, arch) {
    asking ??= open_asking(withBase(`/labs/compile_worker.js?${about.version}`), begin, ({ done }) => { state.done = done; });
    const begun = stops;
    const mine = turn.then(() => {
      if (stops > begun) throw new Error('stopped');
      return asking.ask('compile', { source, arch });
    });
    turn = mine.catch(() => {});
    return mine;
  }

  // A kernel takes clang twice as long for the first time as for the second, for the browser compiles what of clang is used. So
  // the text as it was is compiled while the learner writes in it, where clang is on this machine already.
  function prepare(source, arch) {
    if (prepared || !state.kept) return;
    prepared = true;
    compile(source, arch).catch(() => { prepared = false; });
  }

  function stop() {
    stops++;
    asking?.stop();
  }
  return { state, look, compile, prepare, stop };
}
