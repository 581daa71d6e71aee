// The tables of steps/results: times, trials, counters, stalls, bounds, and any other that a text quotes.
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail, read, root, step_name } from './project.mjs';
import { table } from './programs.mjs';

const folder = 'steps/results';

function newest(pattern, what) {
  const found = readdirSync(resolve(root, folder)).filter((name) => pattern.test(name)).sort();
  return found.length ? `${folder}/${found.at(-1)}` : fail(`${folder} has no table of ${what}`);
}

// "trials" for h200_trials.csv, "stalls" for the newest h200_DATE_stalls.csv; or a path.
function table_of(build, name) {
  if (name.includes('/')) return table(build, existsSync(resolve(root, name)) ? name : fail(`${name} is missing`));
  if (!/^\w+$/.test(name)) fail(`"${name}" is no name of a table`);
  return table(build, newest(new RegExp(`^(\\w+?_)?([\\d-]+_)?${name}\\.csv$`), name));
}

const only = (rows, what) => (rows.length === 1 ? rows[0] : fail(`${rows.length} rows are ${what}, not one`));

// --- times ---

export const times_path = () => newest(/^h200_[\d-]+\.csv$/, 'times');

export function times(build, size) {
  return table(build, times_path()).filter((row) => row.m === String(size)).map((row) => ({
    ...row, ms: Number(row.ms), tflops: Number(row.tflops), baseline_tflops: Number(row.baseline_tflops),
    after: Number(row.baseline_after_tflops) }));
}

export function result(build, step, size) {
  const name = step_name(step);
  return times(build, size).find((row) => row.step === name) ?? fail(`${times_path()} has no ${name} at ${size}`);
}

// The card's SMs and its highest clock: "sm_90, 132 SMs up to 1980 MHz, driver ...".
export function card(build) {
  const [, sms, mhz] = table(build, times_path())[0].detail.match(/(\d+) SMs up to (\d+) MHz/);
  return { sms: Number(sms), ghz: Number(mhz) / 1000 };
}

// --- counters ---

// The short names by which texts ask for counters; "metrics" tables show both. A counter's full name will do, too.
const metrics = Object.fromEntries(
  read('slides/metrics.txt').split('\n').filter((line) => /^\w/.test(line)).map((line) => {
    const [short, name, ...label] = line.split(/\s+/);
    return [short, { name, label: label.join(' ') }];
  }));

export function metric(short) {
  return metrics[short] ?? Object.values(metrics).find(({ name }) => name === short) ??
    fail(`slides/metrics.txt has no ${short}`);
}

// Of one launch at 256 x 256 x 256, by Nsight Compute; those of a launch at 4096 are in the table of stalls.
export function measured(build, step, short) {
  const name = step_name(step), wanted = metric(short).name;
  const of = (rows) => rows.filter((row) => row.step === name && row.counter === wanted);
  const small = of(table_of(build, 'counters')), large = of(table_of(build, 'stalls'));
  const row = only(small.length ? small : large, `${short} of ${name} (counters, stalls)`);
  return { text: row.h200 ?? row.value, size: small.length ? 256 : 4096, name: wanted };
}

const stalled = /issue_stalled_(\w+)_per_issue_active/;

// Cycles that a warp waits for the reason, between two instructions: as text; "all": of all reasons.
export function stall(build, step, reason) {
  const name = step_name(step);
  const rows = table_of(build, 'stalls').filter((row) => row.step === name && stalled.test(row.counter));
  if (!rows.length) fail(`there are no stalls of ${name}`);
  if (reason === 'all') return rows.reduce((sum, row) => sum + Number(row.value), 0).toFixed(2);
  const reasons = rows.map((row) => row.counter.match(stalled)[1]);
  const at = reasons.indexOf(reason);
  return at < 0 ? fail(`"${reason}" is no reason to wait; these are: ${reasons.join(' ')}`) : rows[at].value;
}

// --- rows with a name ---

export function row_of(build, name, id) {
  return only(table_of(build, name).filter((row) => row.id === id), `"${id}" in the table of ${name}`);
}

export const rows_of = table_of;

// The column of the only row in which each of the keys is a field; a short name of a step is one, too.
export function cell(build, name, keys, column) {
  const has = (row, key) => {
    const fields = Object.entries(row).filter(([head]) => head !== 'at').map(([, value]) => value);
    return fields.includes(key) || (/^\d\d(_double)?$/.test(key) && fields.includes(step_name(key)));
  };
  const row = only(table_of(build, name).filter((r) => keys.every((key) => has(r, key))), `"${keys.join(' ')}" in ${name}`);
  return row[column] ?? fail(`the table of ${name} has no column "${column}"`);
}

// --- what the parts of a step are worth ---

const middle = (numbers) => numbers.sort((a, b) => a - b)[(numbers.length - 1) / 2];

// TFLOP/s of a step or a variant in each round in which all of them were timed in turn.
function rounds(build, kernel, size) {
  return [1, 2, 3].map((i) => Number(cell(build, 'worth', [step_name(kernel), size], `tflops${i}`)));
}

// The middle one of the rounds, as build/worth has it; with another kernel, how many times as fast as that.
export function worth(build, kernel, size, other) {
  const own = rounds(build, kernel, size), base = other && rounds(build, other, size);
  return middle(base ? own.map((tflops, i) => tflops / base[i]) : own);
}

export const spilled = (build, kernel) => Number(cell(build, 'worth_frozen', [step_name(kernel)], 'spilled'));
