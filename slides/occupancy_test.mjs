#!/usr/bin/env node
// The occupancy page's answers are simt's, which are those of --profile: launches of kernels that take few and many
// registers, on every card. And each next step is one: there more, or fewer, blocks fit, and just before it not yet.
// Skipped with exit 77 without emcc, or without ptxas, which says how many registers a kernel takes.
//
//   node slides/occupancy_test.mjs BUILD
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { random, run, simt, timed } from './answers.mjs';
import { brief } from './sample.mjs';
import { step_uses } from './book/answering.mjs';
import { occupancy, plain, resources } from './book/theme/occupancy.js';

const LAUNCHES = brief ? 28 : 84, VALUES = [4, 12, 24, 33, 47, 60, 72, 90, 120, 150, 190, 230];

// Keeps so many values in registers at once: loads them all, and stores them in the other order.
function kernel(values) {
  const all = [...Array(values).keys()];
  const load = all.map((i) => `    ld.volatile.global.u32 %r${i}, [%d2 + ${4 * i}];`), store = all.map((i) =>
    `    st.volatile.global.u32 [%d2 + ${4 * i}], %r${values - 1 - i};`);
  return `.version 7.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 tile[];\n.visible .entry once(.param .u64 p)\n{\n` +
    `    .reg .b32 %r<${values}>; .reg .b64 %d<3>;\n    ld.param.u64 %d1, [p];\n    cvta.to.global.u64 %d2, %d1;\n` +
    `${[...load, ...store].join('\n')}\n    ret;\n}\n`;
}

const fits = / (\d+) registers a thread.*?(?:: (\d+) blocks? an SM, limited by ([\w ]+); (\d+) of (\d+) warps|: not one block fits, by its ([\w ]+))/;

// What simt prints about a launch: { registers, blocks, limit, warps, max }, or null without ptxas.
function of_simt(build, ptx, { card, threads, shared }) {
  const said = simt(build, 'profile', ptx, 'once', '--grid', 1, '--block', threads, '--shared', shared, '--card', card, 'u32[256]=iota');
  const [, registers, blocks, limit, warps, max, none] = said.match(fits) ?? [];
  if (registers === undefined) return null;
  const found = { registers: Number(registers), blocks: Number(blocks ?? 0), limit: limit ?? none, warps: Number(warps ?? 0) };
  return max ? { ...found, max: Number(max) } : found;
}

// A next step is where the number of blocks changes, and nothing before it.
function compare_steps(ask, asked, answer) {
  const blocks = (name, value) => ask({ ...asked, [name]: value }).blocks, wrong = [];
  for (const [r, name] of resources.entries()) {
    const less = answer.less[r], more = answer.more[r];
    if (less && !(less.value < asked[name] && blocks(name, less.value) === less.blocks && less.blocks > answer.blocks &&
      blocks(name, less.value + 1) === answer.blocks)) wrong.push(`${name}: up to ${less.value} is no step`);
    if (more && !(more.value > asked[name] && blocks(name, more.value) === more.blocks && more.blocks < answer.blocks &&
      blocks(name, more.value - 1) === answer.blocks)) wrong.push(`${name}: from ${more.value} on is no step`);
    const { value, warps } = answer.curves[r].find((point) => point.value >= asked[name]) ?? answer.curves[r].at(-1);
    if (warps !== ask({ ...asked, [name]: value }).warps) wrong.push(`the curve of ${name} has ${warps} warps at ${value}`);
  }
  const least = Math.min(...Object.values(answer.by));
  if (least !== answer.blocks) wrong.push(`one resource allows ${least} blocks, together ${answer.blocks}`);
  return wrong;
}

// The steps' own launches, which the page has from their drivers: is that what simt finds in their PTX?
function compare_uses(build, wrong) {
  const uses = step_uses(build);
  if (uses.length < 12) wrong.push(`only ${uses.length} steps have a launch`);
  for (const { name, threads, shared } of uses) {
    const said = simt(build, 'inspect', join(build, 'steps', name, `${name}.ptx`));
    const [, most] = said.match(/launch bounds: (\d+) threads/), [, bytes] = said.match(/static shared memory: (\d+) bytes/);
    if (Number(most) !== threads) wrong.push(`${name}: ${threads} threads, its PTX has ${most}`);
    if (Number(bytes) && Number(bytes) !== shared) wrong.push(`${name}: ${shared} bytes, its PTX has ${bytes}`);
  }
}

function compare({ loaded, build, folder, wrong }) {
  const page = occupancy(loaded), any = random(7), { answer: ask_in_time, slowest } = timed(), limits = {};
  const ask = (asked) => ask_in_time(page.answer, asked), files = VALUES.map((n) => join(folder, `${n}.ptx`));
  for (const [i, n] of VALUES.entries()) writeFileSync(files[i], kernel(n));
  for (let i = 0; i < LAUNCHES; i++) {
    const asked = { ...plain, card: page.list[i % page.list.length].name, threads: any([1, 32, 64, 96, 128, 200, 256, 384, 512, 1024]),
      shared: any([0, 0, 1000, 1024, 4096, 8192, 16641, 32768, 48000]) };
    const truth = of_simt(build, any(files), asked);
    if (!truth) {
      console.log('skipped: ptxas does not say how many registers a kernel takes');
      return null;
    }
    asked.registers = truth.registers;
    const answer = ask(asked), text = JSON.stringify(asked);
    limits[answer.limit] = (limits[answer.limit] ?? 0) + 1;
    for (const [name, value] of Object.entries(truth))
      if (name !== 'registers' && answer[name] !== value) wrong.push(`${text}: ${name} ${answer[name]}, simt has ${value}`);
    wrong.push(...compare_steps(ask, asked, answer).map((line) => `${text}: ${line}`));
  }
  if (!brief && Object.keys(limits).length < 4) wrong.push(`only ${Object.keys(limits).join(', ')} ever limit`);
  if (slowest() > 50) wrong.push(`an answer took ${slowest().toFixed(0)} ms`);
  compare_uses(build, wrong);
  return `${LAUNCHES} launches on ${page.list.length} cards, limited by ${Object.entries(limits).map(([name, n]) => `${name} ${n}`).join(', ')}; ` +
    `slowest answer ${slowest().toFixed(1)} ms`;
}

run('occupancy', compare);
