// What a lab does beside its panel: the worker that runs the simulated GPU, what its answers mean, and what the reader
// has predicted.

import { open_asking } from './asking.js';

// --- the worker ---

const modules = new Map();  // by address

// The bytes of a packed file; a server may have unpacked it for the browser already.
async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} gave ${response.status}`);
  const bytes = new Uint8Array(await response.arrayBuffer()), packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return packed ? new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer() : bytes;
}

function compiled(url) {
  if (!modules.has(url)) modules.set(url, fetched(url).then((bytes) => WebAssembly.compile(bytes)));
  modules.get(url).catch(() => modules.delete(url));
  return modules.get(url);
}

// base: the address of the folder of labs, with a / at its end. onBlocks(done, blocks) tells how far a run is. Returns
// { ask(call, args), stop() }: stop ends what is running, whose promise fails with an Error whose message is "stopped".
// module: "lab", or "bench", which also checks exercises and has simt's command line. The worker asks for the lab's rest when a
// run needs it, or has its result.
export function open_worker(base, version, onBlocks, module = 'lab') {
  const file = (name) => `${base}${name}?${version}`, part = (name) => compiled(file(`${name}.wasm.gz`));
  part(module);
  const send_rest = async (send) => send('rest', await part(`${module}_rest`).catch(() => null));
  const { ask, stop } = open_asking(file(`${module}_worker.js`), async (send) => send('open', await part(module)),
    ({ done, blocks, rest }, send) => (rest ? send_rest(send) : onBlocks(done, blocks)));

  const texts = new Map();
  function text(name) {
    if (!texts.has(name)) texts.set(name, fetched(file(`${name}.gz`)).then((bytes) => new TextDecoder().decode(bytes)));
    texts.get(name).catch(() => texts.delete(name));
    return texts.get(name);
  }
  return { ask, stop, text };
}

// --- what a result says ---

export const grouped = (n) => (Number.isInteger(n) ? n : Number(n.toPrecision(3))).toLocaleString('en');
export const counted = (n, what) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`;

// What there is to know of the kernel of a run: { changed, time }.
export const about_of = (lab, run) => run.edited ?? lab.kernels[run.kernel];

export const verdicts = {
  right: 'C is right, and the checks find nothing',
  race: 'C is right, but the checks find something',
  found: 'C is wrong, and the checks find something',
  silent: 'C is wrong, though the checks of accesses and barriers find nothing',
  stuck: 'It does not come to its end',
};

export const launched = { ran: 'It ran, and the checks find nothing', broken: 'It ran, and the checks find something' };

const ends = /^(ENDLESS|BARRIER_STUCK|LANES_MISSING|COMMITS_APART)/;

export const errors_of = (result) => (result.findings ?? []).filter(({ level }) => level === 'error');

export function verdict_of(result) {
  const errors = errors_of(result);
  if (result.verdict === 'failed' || errors.some(({ id }) => ends.test(id))) return 'stuck';
  if (result.verdict === 'ran') return errors.length ? 'broken' : 'ran';
  if (result.verdict === 'right') return errors.length ? 'race' : 'right';
  return errors.length ? 'found' : 'silent';
}

export const is_good = (result) => ['right', 'ran'].includes(verdict_of(result));

// Whose result it is; text: of the open editor, null where none is open.
export function whose_of({ result: { run }, source }, step, text) {
  const same = text === null || text === source;
  if (run.edited) return same ? 'of the edited text' : 'of the edited text as it ran last, and not as it is now';
  const whose = run.kernel === step ? "of the course's kernel" : `of the variant “${run.words}”`;
  return same ? whose : `${whose}, not of the text in the editor`;
}

export const speeds = { faster: 'faster', same: 'about the same: within 2 %', slower: 'slower' };

export function speed_of(time, plain) {
  const ratio = time.ms / plain.ms;
  return ratio < 0.98 ? 'faster' : ratio > 1.02 ? 'slower' : 'same';
}

// Was the number that was said near enough: within a tenth of what is true?
export const near = (said, is) => Math.abs(said - is) <= Math.abs(is) / 10;

// Which elements of C are not right: { wrong, unwritten, all, row, col } with the first such element; null if all are.
export function map_about(map, columns) {
  if (!map) return null;
  const about = { wrong: 0, unwritten: 0, all: map.length, rows: new Set(), first: map.findIndex((mark) => mark) };
  map.forEach((mark, i) => {
    if (mark) about[mark === 2 ? 'unwritten' : 'wrong']++, about.rows.add(Math.floor(i / columns));
  });
  return { ...about, rows: about.rows.size };
}

// --- counters ---

// What each counter counts, in words, by Nsight Compute's name of it: of the text of slides/metrics.txt.
export const metric_words = (text) => Object.fromEntries([...text.matchAll(/^\w+ +(\S+) +(.*)$/gm)].map(([, name, words]) => [name, words]));

// --- counters by line ---

const sum = (...names) => (metrics) => names.reduce((all, name) => all + (metrics[name] ?? 0), 0);
const global = 'l1tex__t_sectors_pipe_lsu_mem_global_op_', shared = 'memory_l1_wavefronts_shared';

export const heats = {
  instructions: { of: sum('smsp__inst_executed.sum'), words: 'instructions of warps' },
  waves: { of: sum(shared), words: 'wavefronts of shared memory' },
  conflicts: { of: (m) => sum(shared)(m) - sum(`${shared}_ideal`)(m), words: 'wavefronts beyond the ideal (conflicts)' },
  sectors: { of: sum(`${global}ld.sum`, `${global}st.sum`), words: 'sectors of global memory' },
  requests: { of: sum('l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum', 'l1tex__t_requests_pipe_lsu_mem_global_op_st.sum'),
    words: 'requests to global memory' },
  tensor: { of: sum('smsp__inst_executed_pipe_tensor_op_hmma.sum', 'smsp__sass_inst_executed_op_shared_gmma.sum'),
    words: 'instructions of tensor cores' },
  bytes: { of: sum('l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum', 'l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum'),
    words: 'bytes that TMA moves' },
  barriers: { of: sum('simt__inst_executed_op_bar.sum'), words: 'barriers' },
};

const is_kernel = (file) => file === 'kernel.cu';

// By line of kernel.cu: { name of heat: value, and products: of wgmma, whose accesses no picture shows }.
export function lines_of(result) {
  const lines = {};
  for (const { file, line, metrics } of result?.lines ?? []) {
    if (!is_kernel(file)) continue;
    const at = lines[line] ??= {};
    for (const [name, { of }] of Object.entries(heats)) at[name] = (at[name] ?? 0) + of(metrics);
    at.products = (at.products ?? 0) + (metrics['smsp__sass_inst_executed_op_shared_gmma.sum'] ?? 0);
  }
  return lines;
}

// The counters that some line has, in any of these results of lines_of.
export const heats_there = (...all) => Object.keys(heats).filter((name) => all.some((lines) => Object.values(lines).some((at) => at[name])));

// Which counter is shown by line: the one that was chosen, where some line of the run or of the one before has it.
export const heat_of = (chosen, { result, before }) => (heats_there(lines_of(result), lines_of(before)).includes(chosen) ? chosen : 'instructions');

export const of_one_size = (result, before) => ['m', 'n', 'k'].every((size) => result.run[size] === before.run[size]);

// A counter in all, beside the run before of the same size, of which there may be none: { is, was }. Less work is no gain where the
// result is wrong, so { is, wrong } says which of the two runs is.
export function change_of(name, result, before) {
  if (!result.metrics || !before?.metrics || !of_one_size(result, before)) return null;
  const [is, was] = [result, before].map(({ metrics }) => heats[name].of(metrics));
  return is_good(result) && is_good(before) ? { is, was } : { is, wrong: is_good(result) ? 'the run before' : 'this run' };
}

export const signed = (n) => `${n < 0 ? '−' : '+'}${grouped(Math.abs(n))}`;

// Words that the terminal shares with the page, where fields stand for options.
const fields = { '--nth': 'access', '--execution': 'execution', '--warp': 'warp', '--block-index': 'block' };
export const in_page = (text) => Object.entries(fields).reduce((all, [option, field]) => all.replaceAll(option, field), text);

// The line of kernel.cu that a finding belongs to: its own, or that of the call.
export const line_of = ({ here }) => (is_kernel(here.file) ? here.line : here.caller);

// --- what was predicted: on this machine only ---

const KEY = 'gemm-steps labs';

export function predictions() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};  // no storage, or none that can be read: nothing is remembered
  }
}

export function remember(all) {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch { /* it counts until the page is left */ }
}
