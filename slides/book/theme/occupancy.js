// What the page about occupancy asks and is told; cards and answers are those of the simulator's own occupancy.c.
import { one_of, whole } from './address.js';

export const resources = ['threads', 'registers', 'shared'];
export const plain = { card: 'H200', threads: 256, registers: 128, shared: 8192 };
const none = 2 ** 32 - 1;

function cards({ c, words, text }) {
  const list = [];
  while (c.fit_choose(list.length)) {
    const [name, cc, sms, threads, blocks, registers, shared_kib] = words('fit_card', 7);
    list.push({ name: text(name), cc, sms, threads, blocks, registers, shared_kib });
  }
  return list;
}

// loaded: answers.wasm. Answers { card, blocks, warps, max, limit, by: { threads, registers, shared, blocks }: blocks that
// each alone allows, less and more: for each resource the next value with which more, or fewer, blocks fit:
// { value, blocks, warps } or null, curves: for each resource [{ value, warps }] }.
export function occupancy(loaded) {
  const { c, words, halves, text } = loaded, list = cards(loaded);
  const most = Math.max(...list.map(({ shared_kib }) => shared_kib)) * 1024;
  const fields = { card: one_of(list.map(({ name }) => name)), threads: whole(1, 1024, plain.threads),
    registers: whole(1, 255, plain.registers), shared: whole(0, most, plain.shared) };

  // Where each resource's curve is sampled: first, step, count.
  const samples = ({ shared_kib }) => [[32, 32, 32], [1, 1, 255], [0, 128, shared_kib * 8 + 1]];

  function answer({ card, threads, registers, shared }) {
    const i = list.findIndex(({ name }) => name === card), use = [i, threads, registers, shared];
    c.fit_show(...use);
    const head = words('fit_answer', 8 + 18), [blocks, warps, max, limit, ...by] = head.subarray(0, 8);
    const step = (at) => {
      const [value, of_blocks, of_warps] = head.subarray(at, at + 3);
      return value === none ? null : { value, blocks: of_blocks, warps: of_warps };
    };
    const found = { card: list[i], blocks, warps, max, limit: text(limit), by: { threads: by[0], registers: by[1], shared: by[2], blocks: by[3] },
      less: resources.map((_, r) => step(8 + 3 * r)), more: resources.map((_, r) => step(17 + 3 * r)) };
    const curves = samples(list[i]).map(([first, by_step, n], r) => {
      c.fit_curve(...use, r, first, by_step, n);
      return [...halves('fit_warps', n)].map((value, at) => ({ value: first + at * by_step, warps: value }));
    });
    return { ...found, curves };
  }
  return { fields, answer, list };
}
