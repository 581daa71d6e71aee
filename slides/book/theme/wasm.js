// answers.wasm, the simulator's own C: its functions and variables, and how to read them.

// wasm: the bytes of the file. Resolves to { c: functions by name, words(name, n), bytes(name, n), text(address) }.
export async function load(wasm) {
  const { instance: { exports: c } } = await WebAssembly.instantiate(wasm, {});
  c._initialize?.();
  const at = (name) => c[name].value;
  const bytes = (name, n) => new Uint8Array(c.memory.buffer, at(name), n);
  const text = (address) => {
    const all = new Uint8Array(c.memory.buffer, address);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  return { c, bytes, text, words: (name, n) => new Uint32Array(c.memory.buffer, at(name), n),
    halves: (name, n) => new Uint16Array(c.memory.buffer, at(name), n) };
}
