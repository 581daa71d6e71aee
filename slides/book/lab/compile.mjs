// CUDA C++ to PTX without a toolkit: clang's front end as WebAssembly (@yowasp/clang) makes LLVM IR, and the course's
// translator (common/irptx) PTX of it. The same in the page's worker and under Node: compile_worker.js, compile_node.mjs.

// Functions are inlined however long they are, and loops unrolled as nvcc does, so that accumulators become registers.
// The vectorisers stay out: vectors of floats are no gain on a GPU, and they break what asm statements expect. What else
// clang would leave undone for a GPU, and does here because its back end is missing, is left out: copies of a block for
// what is known of a condition, after which lanes run it one part after the other. Loads stay together, so that the
// translator sees which are neighbours. A loop of unknown length goes four rounds at once, as nvcc's does.
const tuning = ['-unroll-threshold=1000', '-unroll-runtime', '-unroll-partial-threshold=100', '-unroll-max-count=4', '-inline-threshold=100000',
  '-locally-hot-callsite-threshold=100000', '-jump-threading-threshold=0', '-simplifycfg-max-small-block-size=0', '-instcombine-code-sinking=0'];

// The folder of headers is "clang", that of the course's "common", and the kernel is kernel.cu beside them.
function options(arch, defines) {
  const ptx = /^sm_(9|1\d)/.test(arch) ? '+ptx80' : '+ptx71';
  return ['clang', '-cc1', '-triple', 'nvptx64-nvidia-cuda', '-aux-triple', 'x86_64-unknown-linux-gnu', '-target-cpu', arch,
    '-target-feature', ptx, '-fcuda-is-device', '-fcuda-allow-variadic-functions', '-x', 'cuda', '-std=c++17', '-fgnuc-version=4.2.1',
    '-O2', ...tuning.flatMap((text) => ['-mllvm', text]), '-debug-info-kind=line-directives-only',
    '-fno-caret-diagnostics', '-fmessage-length=0', '-ferror-limit', '20', '-w', '-DCOURSE_TRANSLATOR', ...defines,
    '-Icommon', '-internal-isystem', 'clang', '-internal-isystem', 'clang/bare',
    ...['cuda_runtime.h', 'limits.h', 'math.h', 'stdint.h', 'string.h'].flatMap((name) => ['-include', name]),
    '-emit-llvm', 'kernel.cu', '-o', '-'];
}

// --- what clang says ---

const said = /^(.*?):(\d+):(\d+): (fatal error|error|note): (.*)$/;
const included = /^In file included from (.*?):(\d+):/;

// clang's errors: [{ line, column, text }]; line: of kernel.cu, the error's own or that of the call or the #include that
// leads to it, 0 if none does. Behind a static_assert that does not hold stands what follows from it, which is left out.
export function errors_of(text) {
  const found = [];
  let from = 0;
  for (const row of text.split('\n')) {
    const inside = row.match(included), [, file, line, column, kind, words] = row.match(said) ?? [];
    if (inside) from = inside[1] === 'kernel.cu' ? Number(inside[2]) : from;
    if (!kind) continue;
    const here = file === 'kernel.cu', last = found.at(-1);
    if (kind !== 'note') found.push({ line: here ? Number(line) : from, column: here ? Number(column) : 1,
      text: here ? words : `${file.replace(/^.*\//, '')}:${line}: ${words}` });
    else if (last && !last.line && here) Object.assign(last, { line: Number(line), column: Number(column) });
    from = 0;
  }
  const asserted = found.filter(({ text: words }) => /static[_ ]assert/.test(words));
  return asserted.length ? asserted : found;
}

// --- compiling ---

// "common/edges.cuh" -> { common: { "edges.cuh": text } }
function tree_of(files) {
  const tree = {};
  for (const [path, text] of Object.entries(files)) {
    const folders = path.split('/'), name = folders.pop();
    folders.reduce((at, folder) => (at[folder] ??= {}), tree)[name] = text;
  }
  return tree;
}

// clang writes the IR in pieces of a few letters, a million of them, and its package takes each through many layers, which
// would be half of the time. So what it writes to stdout is taken from its memory.
function text_writer() {
  let bytes = new Uint8Array(1 << 20), length = 0, memory = null;
  function take(from, count) {
    if (length + count > bytes.length) {
      const larger = new Uint8Array(2 * (length + count));
      larger.set(bytes);
      bytes = larger;
    }
    bytes.set(from, length);
    length += count;
  }
  // WASI's fd_write: list has the address and the length of each piece.
  const fd_write = (otherwise) => (file, list, pieces, written) => {
    if (file !== 1) return otherwise(file, list, pieces, written);
    const view = new DataView(memory.buffer), before = length;
    for (let i = 0; i < pieces; i++) {
      const at = view.getUint32(list + 8 * i, true), count = view.getUint32(list + 8 * i + 4, true);
      take(new Uint8Array(memory.buffer, at, count), count);
    }
    view.setUint32(written, length - before, true);
    return 0;
  };
  async function instantiate(module, imports) {
    const wasi = imports?.wasi_snapshot_preview1;
    if (!wasi?.fd_write) return instantiate_plainly(module, imports);
    const instance = await instantiate_plainly(module, { ...imports, wasi_snapshot_preview1: { ...wasi, fd_write: fd_write(wasi.fd_write) } });
    memory = instance.exports.memory;
    return instance;
  }
  return { instantiate, text: () => new TextDecoder().decode(bytes.subarray(0, length)) };
}
const instantiate_plainly = WebAssembly.instantiate;

// runLLVM: of @yowasp/clang. headers: { path: text }. Resolves to { ir } or { errors }. One after the other: while clang runs,
// its package finds another WebAssembly.instantiate.
export async function to_ir(runLLVM, headers, source, arch, defines = []) {
  const out = text_writer(), decoder = new TextDecoder();
  let failed = '', said = '';
  WebAssembly.instantiate = out.instantiate;
  try {
    await runLLVM(options(arch, defines), tree_of({ ...headers, 'kernel.cu': source }),
      { stdout() {}, stderr: (bytes) => { if (bytes) said += decoder.decode(bytes, { stream: true }); }, decodeASCII: false, fetchProgress() {} });
  } catch (error) {
    failed = `the compiler itself stopped: ${error.message}`;
  } finally {
    WebAssembly.instantiate = instantiate_plainly;
  }
  const errors = errors_of(said);
  if (errors.length || failed) return { errors: errors.length ? errors : [{ line: 0, column: 1, text: failed }] };
  return { ir: out.text() };
}

// The PTX as the page has it: its files have no folders.
const plain_files = (ptx) => ptx.replace(/^(\s*\.file\s+\d+\s+").*\//gm, '$1');

// translate(ir): { ptx } or { error, line }: the course's translator. Resolves to { ptx } or { errors }; what
// the translator does not know is refused.
export async function to_ptx(runLLVM, translate, headers, source, arch, defines) {
  const { ir, errors } = await to_ir(runLLVM, headers, source, arch, defines);
  if (errors) return { errors };
  const { ptx, error, line } = await translate(ir);
  return error ? { errors: [{ line: line ?? 0, column: 1, text: error, refused: true }] } : { ptx: plain_files(ptx) };
}
