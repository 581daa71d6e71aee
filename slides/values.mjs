// Single values: <span data-value="what ...">shown</span>. README.md lists them.
import { card, cell, measured, result, row_of, stall, worth } from './results.mjs';
import { evaluate, fixed, grouped, number, percent, quantity, rate, time, with_digits } from './numbers.mjs';
import { changed_lines } from './code.mjs';
import { fail, line_of, read, step_name } from './project.mjs';
import { fingerprint } from './registers.mjs';
import { SIZE, constants, ptx, simulated, source_of } from './sources.mjs';

const share = (r) => percent(r.tflops / r.baseline_tflops);
const in_time = (ms) => quantity(ms, time(ms), time(ms).slice(-3), ms < 1 ? 1000 * ms : ms);
const as_written = (text, unit = '') => quantity(Number(text), grouped(text) + unit, unit);
const speed = (tflops) => quantity(tflops, rate(tflops));
const text = (words) => quantity(NaN, words);

// 2026-11-22 as 22 November 2026.
const written_out = (date) => new Date(`${date}T00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

// --- formulas, in which [what ...] is another value ---

function formula(words, names, where, build) {
  const all = { ...names, ...card(build) };
  let n = 0;
  const plain = words.replace(/\[((?:'[^']*'|[^\]'])*)\]/g, (_, what) => {
    const { x } = value_of(what, build);
    if (!Number.isFinite(x)) fail(`${where}: "${what}" is no number`);
    all[`value_${n}`] = x;
    return `value_${n++}`;
  });
  const share_of = plain.match(/^(.*\S)\s*%$/s);
  const x = evaluate(share_of ? share_of[1] : plain, all, where);
  return share_of ? percent(x) : number(x);
}

// --- tables of steps/results ---

// "46 to 49" where several variants or runs lay between; "low" and "high" ask for one end.
function trial([id, end], build) {
  const { tflops: low, tflops_max: high } = row_of(build, 'trials', id);
  if (!end) return high ? quantity(Number(low), `${low} to ${high}`) : as_written(low);
  return as_written({ low, high: high || low }[end] ?? fail(`a trial has low and high, not "${end}"`));
}

// A ceiling, which has to be what its formula gives.
function bound([id], build) {
  const { tflops, formula: words, at } = row_of(build, 'bounds', id), digits = tflops.split('.')[1]?.length ?? 0;
  const x = evaluate(words, card(build), at);
  return fixed(x, digits) === tflops ? as_written(tflops) : fail(`${at}: the formula gives ${x}, not ${tflops}`);
}

// What Nsight Compute read on the card: a share of a pipe's peak, a clock, or a plain count.
function ncu([step, short], build) {
  const { text: read_there, name } = measured(build, step, short), x = Number(read_there);
  if (/\.pct_/.test(name)) return quantity(x, `${fixed(x, 0)} %`, ' %');
  if (/\.per_second$/.test(name)) return quantity(x / 1e9, `${fixed(x / 1e9, 2)} GHz`, ' GHz');
  return quantity(x, grouped(read_there));
}

// --- kernels and pictures ---

// What ptxas gives a step on an H200. A kernel that has changed since is noticed, if nvcc is of the same release.
function registers([step, column = 'registers'], build) {
  const name = step_name(step), row = (head) => cell(build, 'ptxas', [name], head), now = fingerprint(ptx(build, name));
  if (now.release === row('release') && now.ptx !== row('ptx'))
    fail(`${name} has changed since its registers were counted: node slides/registers.mjs`);
  return as_written(row(column));
}

function changed([before, step, which]) {
  const { come, go } = changed_lines(before, step);
  const counts = { come, go, changed: come + go };
  if (which) return number(counts[which] ?? fail(`"${which}" is none of come, go and changed`));
  return text(`${come} lines come, ${go} go`);
}

// count KERNEL COUNTER [SIZE | MxNxK] ['text']
function count([kernel, short, ...rest], build) {
  const sizes = /^\d+(x\d+x\d+)?$/.test(rest[0]) ? rest.shift().split('x').map(Number) : undefined;
  if (rest.length > 1) fail('a count has a kernel, a counter, a size and the beginning of a line');
  return number(simulated(build, kernel, short, rest[0], sizes?.length === 1 ? Array(3).fill(sizes[0]) : sizes));
}

// The number before a word of a picture's title: "ldmatrix: 32 wavefronts, ideal 4, 28 bank conflicts". Or a share within
// it, before or behind the word: "29 %  long_scoreboard: global memory", "tensor cores 78 %".
function picture([file, ...words]) {
  const word = words.join(' '), svg = read(`slides/pictures/${file}`), [, title] = svg.match(/<title>(.*)<\/title>/);
  if (word === 'bank conflict' && title.includes('no bank conflicts')) return number(0);
  const [, n] = title.match(new RegExp(`(\\d[\\d,]*) ${word}`)) ?? [];
  if (n) return quantity(Number(n.replaceAll(',', '')), n);
  const share = svg.match(new RegExp(`>(\\d+) %  ${word}`)) ?? svg.match(new RegExp(`>${word} (\\d+) %<`));
  if (!share) fail(`${file}: no number before ${word} in "${title}", and no share of it`);
  return quantity(Number(share[1]), `${share[1]} %`, ' %');
}

const values = {
  tflops: ([step, size], build) => speed(result(build, step, size).tflops),
  cublas: ([step, size], build) => speed(result(build, step, size).baseline_tflops),
  cublas_after: ([step, size], build) => speed(result(build, step, size).after),
  time: ([step, size], build) => in_time(result(build, step, size).ms),
  share: ([step, size], build) => share(result(build, step, size)),
  gain: ([before, step, size], build) => {
    const times = result(build, before, size).ms / result(build, step, size).ms;
    return quantity(times, times.toFixed(2));
  },
  device: ([step, size], build) => text(result(build, step, size).device),
  date: ([step, size], build) => text(written_out(result(build, step, size).date)),
  trial,
  bound,
  stall: ([step, reason], build) => as_written(stall(build, step, reason)),
  ncu,
  machine: ([name], build) => as_written(cell(build, 'machine', [name], 'value')),
  cell: ([table, ...keys], build) => as_written(cell(build, table, keys.slice(0, -1), keys.at(-1))),
  // worth KERNEL SIZE: TFLOP/s; worth OTHER KERNEL SIZE: how many times as fast, as gain has it
  worth: (args, build) => {
    const [size, kernel, other] = args.toReversed(), x = worth(build, kernel, size, other);
    return other ? quantity(x, x.toFixed(2)) : speed(x);
  },
  count,
  per_fma: ([kernel, short], build) => {  // for each multiply-add of a warp
    const x = simulated(build, kernel, short) / (SIZE ** 3 / 32);
    return quantity(x, x.toFixed(2));
  },
  calc: ([kernel, ...words], build) => formula(words.join(' '), constants(build, kernel), `calc ${kernel}`, build),
  exp: (words, build) => formula(words.join(' '), {}, 'exp', build),
  registers,
  lines: changed,
  line: ([file, begins]) => number(line_of(source_of(file), begins ?? fail('the beginning of the line is missing'))),
  picture,
};

// Words; 'a text' is one of them.
const split = (what) => [...what.matchAll(/\[(?:'[^']*'|[^\]'])*\]|'([^']*)'|[^\s'[]+/g)].map((m) => m[1] ?? m[0]);

function value_of(what, build) {
  const [kind, ...args] = split(what);
  return (values[kind] ?? fail(`there are no values of the kind "${kind}"`))(args, build);
}

// What a mark stands for today. ".N" at its end: with N decimals.
export function value(mark, build) {
  const [, what, digits] = mark.replace(/\s+/g, ' ').trim().match(/^(.*?)(?: \.(\d))?$/);
  const q = value_of(what, build);
  if (digits !== undefined && !Number.isFinite(q.shown)) fail(`"${what}" is no number`);
  return digits === undefined ? q.text : with_digits(q, Number(digits));
}
