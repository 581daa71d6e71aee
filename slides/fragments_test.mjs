#!/usr/bin/env node
// The fragment map's answers are simt's: each operand of each instruction beside the picture that simt draws of it; and
// simt takes each instruction by its name, with as many registers as the map says. Skipped with exit 77 without emcc.
//
//   node slides/fragments_test.mjs BUILD
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, simt, timed } from './answers.mjs';
import { fragment_map, instruction, plain } from './book/theme/fragments.js';

// --- what simt draws: "row 9, column 3: lane 5, register a1.hi", and strips of ldmatrix ---

function drawn(build, { shape, type, sum, operand }) {
  const size = shape.split('.')[1], elements = operand === 'c' ? sum : type;
  const svg = simt(build, 'draw', '--fragment', operand, '--shape', size, '--type', elements, '--out', '-');
  const cells = [...svg.matchAll(/<title>row (\d+), column (\d+): lane (\d+), register [abc](\d+)([.\w]*)<\/title>/g)];
  const parts = svg.split(/In memory by (?=rows|columns)/).slice(1);
  return { cells: cells.map(([, ...cell]) => cell.join(' ')), ways: Object.fromEntries(parts.map((part) => [part.match(/^\w+/)[0], strips(part)])) };
}

// The strips of one picture, with their places on a grid that the picture's own edges and sizes give.
function strips(part) {
  const found = [...part.matchAll(/<title>lane (\d+) names this row of matrix (\d+), which goes to register [ab](\d+)<\/title>\n?<rect[^>]* x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g)]
    .map((m) => m.slice(1).map(Number)), name = part.match(/: (.*?)</)[1];
  const left = Math.min(...found.map((s) => s[3])), top = Math.min(...found.map((s) => s[4])), [, , , , , w, h] = found[0];
  return { name, left, top, w: w + 2, h: h + 2, strips: found };
}

function compare_ways(way, of_simt, name, wrong) {
  const by_rows = name === 'rows', { left, top, w, h, strips: all } = of_simt, seen = new Set();
  if (way.name !== of_simt.name) wrong.push(`${name}: ${way.name}, simt has ${of_simt.name}`);
  for (const [lane, matrix, register, x, y] of all) {
    const length = way.cells[0][0].length, row = Math.round((y - top) / (by_rows ? h : h / length)), col = Math.round((x - left) / (by_rows ? w / length : w));
    const strip = way.cells[row]?.[col];
    seen.add(strip);
    if (!strip || strip.row !== row || strip.col !== col || strip.lane !== lane || strip.matrix !== matrix || strip.register !== register)
      wrong.push(`${name}: the strip at ${row}, ${col} is ${JSON.stringify(strip)}, simt has lane ${lane}, matrix ${matrix}, register ${register}`);
  }
  const held = new Set(way.cells.flat());
  if (held.size !== seen.size || held.has(null)) wrong.push(`${name}: ${held.size} strips, simt has ${seen.size}`);
}

function compare_operand(map, build, choice, operand, ask) {
  const asked = { ...plain, ...choice, operand }, answer = ask(map.answer, asked), simts = drawn(build, asked), wrong = [];
  const mine = answer.cells.flatMap((line, row) => line.map((cell, col) => `${row} ${col} ${cell.lane} ${cell.register} ${cell.part}`));
  const [a, b] = [mine, simts.cells].map((list) => [...list].sort().join('\n'));
  if (a !== b) wrong.push(`${mine.length} elements, simt has ${simts.cells.length}, or others`);
  const turned = answer.lanes.flatMap((list, lane) => list.map(({ row, col, register, part }) => `${row} ${col} ${lane} ${register} ${part}`));
  if (turned.sort().join('\n') !== a) wrong.push('the lanes hold other elements than the elements say');
  for (const name of ['rows', 'columns']) {
    if (!answer.ways[name] !== !simts.ways[name]) wrong.push(`by ${name}: ${Boolean(answer.ways[name])}, simt ${Boolean(simts.ways[name])}`);
    else if (simts.ways[name]) compare_ways(answer.ways[name], simts.ways[name], name, wrong);
  }
  return { answer, wrong: wrong.map((text) => `${choice.shape} ${choice.type} ${choice.sum}, ${operand}: ${text}`) };
}

// --- a kernel of all instructions, which simt refuses if one has another name or number of registers ---

const bank = { f64: 'd', f32: 'f' };
const registers = (type, n) => `{${[...Array(n).keys()].map((i) => `%${bank[type] ?? 'r'}${i}`).join(', ')}}`;

function source(list) {
  const lines = list.map(({ choice, regs: { a, b, c } }) => {
    const sums = registers(choice.sum, c), factors = [a, b].map((n) => registers(choice.type, n));
    return `    ${instruction(choice)} ${[sums, ...factors, sums].join(', ')};`;
  });
  return `.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry all()\n{\n    .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .f64 %d<16>;\n` +
    `${lines.join('\n')}\n    ret;\n}\n`;
}

// What simt says against the kernel, or nothing.
function refused(build, folder, list) {
  const ptx = join(folder, 'all.ptx');
  writeFileSync(ptx, source(list));
  try {
    simt(build, 'inspect', ptx);
    return '';
  } catch (error) {
    return error.stdout || error.message;
  }
}

function compare({ loaded, build, folder, wrong }) {
  const map = fragment_map(loaded), { answer: ask, slowest } = timed(), list = [];
  for (const choice of map.list) {
    const regs = {};
    for (const operand of ['a', 'b', 'c']) {
      const { answer, wrong: found } = compare_operand(map, build, choice, operand, ask);
      wrong.push(...found);
      regs[operand] = answer.regs;
    }
    list.push({ choice, regs });
  }
  if (map.list.length < 30) wrong.push(`only ${map.list.length} instructions`);
  if (slowest() > 50) wrong.push(`an answer took ${slowest().toFixed(0)} ms`);
  const told = refused(build, folder, list);
  if (told) wrong.push(`simt does not take the instructions: ${told}`);
  return `${map.list.length} instructions, ${3 * map.list.length} operands; slowest answer ${slowest().toFixed(1)} ms`;
}

run('fragments', compare);
