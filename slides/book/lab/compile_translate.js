// The course's translator (common/irptx/wasm), in the compiler's worker and under Node.

// open(): makes the module. Returns translate(ir), which resolves to { ptx } or { error, line }.
export function translator(open) {
  let m = null;
  return async function translate(ir) {
    m ??= await open();
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
  };
}
