// Runs the simulated GPU beside the page: each message { id, call, args } is answered by { id, result } or { id, error }.
// Between them come messages { done, blocks }. It asks for nothing from anywhere: the page sends the module and the files.
import Lab from 'lab-module';

let module, m;
let exported, complete;  // exported: of m's instance; complete: it has the rest of the module, too
let rest, came;          // rest: a promise of it, once the page was asked; came: settles it

function put(text) {
  const bytes = m.lengthBytesUTF8(text), at = m._malloc(bytes + 1);
  m.stringToUTF8(text, at, bytes + 1);
  return { at, bytes };
}

const text_at = (at) => (at ? m.UTF8ToString(at) : null);

function write(path, content) {
  const name = put(path), text = put(content), ok = m._lab_write(name.at, text.at, text.bytes);
  m._free(name.at);
  m._free(text.at);
  if (!ok) throw new Error(text_at(m._lab_error()));
}

function known(moment) {
  if (moment < 0) throw new Error(text_at(m._lab_error()));
  return moment;
}

function known_text(at) {
  const text = text_at(at);
  if (text === null) throw new Error(text_at(m._lab_error()));
  return text;
}

const answer = (at) => JSON.parse(known_text(at));

// The module of a chapter is in two parts, and the first has what a right run of the step calls. What calls into the rest before
// that is there ends.
const lacking = new Proxy({}, { get: () => () => { throw new Error('the rest of the module is not there'); } });

function opened(more = {}) {
  const instantiateWasm = (imports, done) => {
    WebAssembly.instantiate(module, { ...imports, placeholder: lacking }).then((instance) => {
      exported = instance.exports;
      done(instance);
    });
    return {};
  };
  return Lab({ noInitialRun: true, instantiateWasm, ...more, onBlocks: (done, blocks) => postMessage({ done, blocks }) });
}

async function complete_it() {
  if (complete) return;
  rest ??= new Promise((done, fail) => {
    came = { done, fail };
    postMessage({ rest: true });
  });
  const mine = exported;
  await WebAssembly.instantiate(await rest, { primary: mine });
  complete ||= mine === exported;
}

// A run that needs the rest begins anew when it has come: what it left behind is gone with its instance.
async function run_complete(args) {
  m = await opened();
  await complete_it();
  return calls.run(args);
}

// In a module of its own, which has the files and is gone afterwards.
async function in_fresh_module(files, more, what) {
  const old = m;
  try {
    m = await opened(more);
    for (const [name, content] of Object.entries(files)) write(name, content);
    return what();
  } finally {
    m = old;
  }
}

const calls = {
  // module: a WebAssembly.Module
  async open(given) {
    module = given;
    complete = WebAssembly.Module.imports(module).every((one) => one.module !== 'placeholder');
    m = await opened();
  },
  // The rest of it, which was asked for; null: it could not be loaded.
  rest(given) {
    if (given) came?.done(given);
    else {
      came?.fail(new Error('a part of the simulated GPU could not be loaded'));
      rest = null;
    }
  },

  // files: { name: text }. The result is lab_run's, and map, a byte for each element of C, null if all are right.
  // entry: a kernel that is no step, and number its integers, in place of type and the rest.
  run({ ptx, files, entry, number, type, m: rows, n: columns, k, alpha, beta }) {
    for (const [name, content] of Object.entries(files)) write(name, content);
    const name = put(ptx), kernel = put(entry ?? ''), begun = performance.now();
    const text = text_at(entry ? m._lab_launch(name.at, kernel.at, number) : m._lab_run(name.at, type, rows, columns, k, alpha, beta));
    m._free(name.at);
    m._free(kernel.at);
    if (text === null) throw new Error('there is not enough memory');
    const at = m._lab_map(), map = at ? m.HEAPU8.slice(at, at + rows * columns) : null;
    return { ...JSON.parse(text), map, ms: performance.now() - begun };
  },

  // The last run, watched: a block of it, {"steps", "warps", "findings"}.
  watch: ({ block }) => answer(m._lab_watch(block)),
  // A moment, or -1: the next that fits, as in watch_next; who made a register's value; who wrote a byte.
  // execution: of its instruction, that a finding of the block is about.
  next: ({ from, stop, back, warp, number = 0 }) => m._lab_watch_next(from, stop, back, warp, number),
  line: ({ moment }) => m._lab_watch_line(moment),
  execution: ({ finding }) => m._lab_watch_execution(finding),
  made({ moment, warp, lane, name }) {
    const text = put(name), found = m._lab_watch_made(moment, warp, lane, text.at);
    m._free(text.at);
    return known(found);
  },
  wrote: ({ moment, at }) => known(m._lab_watch_wrote(moment, at)),
  // What there is to see at a moment: watch_json's.
  look: ({ moment }) => answer(m._lab_watch_at(moment)),

  // Why warps wait then: watch_why_json's list.
  why: ({ moment }) => answer(m._lab_watch_why(moment)).why,

  // The check of an exercise: { tests: [{ title, state, counts, text }] }.
  check: ({ exercise, files }) => in_fresh_module(files, {}, () => answer(m._lab_check(put(exercise).at, put('kernel.ptx').at))),
  points: ({ questions, passed, by_stub }) => m._lab_points(questions, passed, by_stub),
  // The stub and the solution that a source holds, or the text with one of its planted bugs.
  cut({ source, bug }) {
    const text = put(source), name = bug === undefined ? null : put(bug), cut = (solution) => known_text(m._lab_cut(text.at, solution, name?.at ?? 0));
    const cuts = name ? { bug: cut(false) } : { stub: cut(false), solution: cut(true) };
    m._free(text.at);
    m._free(name?.at ?? 0);
    return cuts;
  },

  // A command line of simt: { status, out, errors }.
  simt({ files, words }) {
    const out = [], errors = [], text = (lines) => lines.map((line) => `${line}\n`).join('');
    return in_fresh_module(files, { thisProgram: 'simt', print: (line) => out.push(line), printErr: (line) => errors.push(line) },
      () => ({ status: m.callMain(words), out: text(out), errors: text(errors) }));
  },

  // view: of enum simt_view. The SVG's text.
  draw({ view, line, nth, instruction, execution, warp, block, global, large }) {
    return known_text(m._lab_draw(view, line, nth, instruction, execution, warp, block, global, large));
  },
};

async function called(call, args) {
  if (!['open', 'rest', 'run'].includes(call)) await complete_it();
  try {
    return await calls[call](args);
  } catch (error) {
    if (call !== 'run' || complete) throw error;
    return run_complete(args);
  }
}

onmessage = async ({ data: { id, call, args } }) => {
  try {
    postMessage({ id, result: await called(call, args) });
  } catch (error) {
    postMessage({ id, error: `${error.message ?? error}` });
  }
  if (call === 'run') complete_it().catch(() => {});  // behind the first result
};
