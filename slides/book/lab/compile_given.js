// @yowasp/clang fetches its four modules by itself, and compiles them. In the page's worker they are given to it, so that they
// come with progress, are kept, and outlive a worker that was stopped: make_compiler in compile_files.mjs puts these two
// functions in place of fetch and WebAssembly.compileStreaming.
let given = {};

export function give_modules(modules) {
  given = modules;
}

// A module is known by its name alone; clang's own headers, a tar file, are not used: it is empty.
export const given_fetch = async (url) => new Response(url.pathname.endsWith('.tar') ? new Uint8Array(1024) : '',
  { headers: { 'content-type': 'application/wasm', 'x-name': url.pathname.replace(/^.*\//, '') } });

export const given_compile = (response) => given[response.headers.get('x-name')];
