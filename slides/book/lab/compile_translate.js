// The course's translator in the compiler's worker: common/irptx/wasm.
import Irptx from 'irptx-module';
import binary from 'irptx-binary';

let m = null;

// { ptx } or { error, line }
export async function translate(ir) {
  m ??= await Irptx({ wasmBinary: binary });
  const bytes = m.lengthBytesUTF8(ir) + 1, at = m._malloc(bytes);
  try {
    m.stringToUTF8(ir, at, bytes);
    const ptx = m._irptx_wasm_translate(at, 0, 0);
    if (ptx) return { ptx: m.UTF8ToString(ptx) };
    const [, line, error] = m.UTF8ToString(m._irptx_wasm_error()).match(/^(?:kernel\.cu:(\d+): )?(.*)/);
    return { error, line: Number(line ?? 0) };
  } catch (error) {
    m = null;  // what trapped is not used again
    throw error;
  } finally {
    m?._free(at);
  }
}
