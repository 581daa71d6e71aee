#!/usr/bin/env node
// The bank explorer's answers are simt's: 200 patterns of addresses (40 in the brief setup), each asked of both. The explorer's come from answers.wasm;
// simt runs a kernel with one access to shared memory, whose addresses are its argument. Skipped with exit 77 without emcc.
//
//   node slides/banks_test.mjs BUILD
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { random, run, simt, timed } from './answers.mjs';
import { brief } from './sample.mjs';
import { accesses, explorer } from './book/theme/banks.js';

const PATTERNS = brief ? 40 : 200, SHARED = 96 * 1024;

// --- a kernel for each access ---

const registers = { 1: ['.u8', '%r4'], 2: ['.u16', '%h1'], 4: ['.u32', '%r4'], 8: ['.v2.u32', '{%r4, %r5}'],
  16: ['.v4.u32', '{%r4, %r5, %r6, %r7}'] };

function instruction(access, bytes) {
  const n = access.match(/x(\d)$/)?.[1], list = ['%r4', '%r5', '%r6', '%r7'].slice(0, n).join(', ');
  if (n) return `ldmatrix.sync.aligned.m8n8.x${n}.shared.b16 {${list}}, [%r3];`;
  const [type, register] = registers[bytes];
  return access === 'load' ? `ld.shared${type} ${register}, [%r3];` : `st.shared${type} [%r3], ${register};`;
}

const kernel = (access, bytes) => `.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry once(.param .u64 addresses)
{
    .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [addresses];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    mov.u32 %r3, tile;
    add.s32 %r3, %r3, %r2;
    mov.u16 %h1, 0;
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
    ${instruction(access, bytes)}
    ret;
}
`;

function truth_of(build, folder, access, { addresses, bytes }) {
  const ptx = join(folder, 'once.ptx'), json = join(folder, 'once.json');
  writeFileSync(ptx, kernel(access, bytes));
  const all = [...addresses, ...Array(32 - addresses.length).fill(0)];
  simt(build, 'profile', ptx, 'once', '--grid', 1, '--block', 32, '--shared', SHARED, '--json', json, `u32[32]={${all}}`);
  const { metrics } = JSON.parse(readFileSync(json, 'utf8'));
  const kind = access === 'load' ? 'ld' : access === 'store' ? 'st' : 'ldsm';
  const conflicts = `${kind === 'ldsm' ? 'smsp__sass_l1tex_data' : 'l1tex__data'}_bank_conflicts_pipe_lsu_mem_shared_op_${kind}.sum`;
  return { waves: metrics[`smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_${kind}.sum`], conflicts: metrics[conflicts],
    ideal: metrics.memory_l1_wavefronts_shared_ideal };
}

// --- patterns: strides, tiles, swizzles, and indices without order ---

function pattern(any) {
  const access = any(accesses), matrices = access.startsWith('ldmatrix');
  const element = matrices ? 2 : any([1, 2, 4, 8]), vector = matrices ? 8 : any([1, 2, 4, 8, 16].filter((n) => n * element <= 16));

  const index = any([`lane * ${vector}`, 'lane * pitch', 'lane % 16 * pitch + lane / 16 * 8', `lane / 8 * pitch + lane % 8 * ${vector}`,
    `(lane ^ ${any([1, 2, 5, 16])}) * ${vector}`, `lane * ${any([3, 5, 7, 12])} % 32 * ${vector}`, '0', `lane / 2 * ${vector}`,
    `(lane * lane + ${any([1, 2, 3])}) % 61 * ${vector}`]);
  return { access, element, vector, index, width: vector * any([1, 2, 4, 8, 16]), pad: vector * any([0, 0, 1, 1, 2, 4, 8]),
    b: any([0, 0, 1, 2, 3]), m: Math.log2(vector), s: any([3, 4, 5]) };
}

function compare({ loaded, build, folder, wrong }) {
  const explore = explorer(loaded), any = random(19), seen = new Set(), { answer: ask, slowest } = timed();
  let conflicts = 0;
  while (seen.size < PATTERNS) {
    const asked = pattern(any), text = JSON.stringify(asked);
    if (seen.has(text)) continue;
    seen.add(text);
    const answer = ask(explore.answer, asked), truth = truth_of(build, folder, asked.access, answer);
    conflicts += truth.conflicts > 0;
    for (const [name, value] of Object.entries(truth))
      if (answer[name] !== value) wrong.push(`${text}: ${name} ${answer[name]}, simt has ${value}`);
    const passes = answer.phases.reduce((sum, phase) => sum + phase.passes.length, 0);
    if (passes !== answer.waves) wrong.push(`${text}: the phases have ${passes} wavefronts, not ${answer.waves}`);
  }
  if (conflicts < PATTERNS / 4) wrong.push(`only ${conflicts} of the patterns have conflicts`);
  if (slowest() > 50) wrong.push(`an answer took ${slowest().toFixed(0)} ms`);
  return `${PATTERNS} patterns, ${conflicts} with conflicts; slowest answer ${slowest().toFixed(1)} ms`;
}

run('banks', compare);
