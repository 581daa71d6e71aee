// What the fragment map asks and is told: which lane and register holds which element of a matrix operand. The answers are
// those of the simulator's own fragment.c and fragment_list.c.
import { one_of, whole } from './address.js';

export const operands = ['a', 'b', 'c', 'd'], views = ['held', 'rows', 'columns'];
const lanes = [...Array(32).keys()], registers = 8, places = 4;

export const plain = { shape: 'mma.m16n8k16', type: 'f16', sum: 'f32', operand: 'a', view: 'held', lane: '' };

const a_lane = whole(0, 31, '');
const lane_or_none = { ...a_lane, take: (text) => (text === '' ? '' : a_lane.take(text)) };

// All instructions: { shape: 'mma.m16n8k16', type, sum }, in the simulator's order.
function choices({ c, words, text }) {
  const list = [];
  while (c.map_choose(list.length)) {
    const [type, sum, m, n, k, wmma] = words('map_choice', 6);
    list.push({ shape: `${wmma ? 'wmma' : 'mma'}.m${m}n${n}k${k}`, type: text(type), sum: text(sum) });
  }
  return list;
}

// The instruction's name in PTX.
export function instruction({ shape, type, sum }) {
  const [name, size] = shape.split('.');
  if (name === 'mma') return `mma.sync.aligned.${size}.row.col.${sum}.${type}.${type}.${sum}`;
  return `wmma.mma.sync.aligned.row.col.${size}.${type === 'f16' ? `${sum}.${sum}` : [sum, type, type, sum].join('.')}`;
}

const parts = { 1: [''], 2: ['.lo', '.hi'], 4: ['.0', '.1', '.2', '.3'] };
const table = (rows, cols) => Array.from({ length: rows }, () => Array(cols).fill(null));

// How ldmatrix fills the operand: { name: 'two ldmatrix.x4', cells: [row][col] of { lane, register, matrix, row, col } }.
function ldmatrix(answer, bytes, by_columns) {
  const { rows, cols, distinct, trans, element } = answer, cells = table(rows, cols), length = 16 / element;
  for (let r = 0; r < distinct; r++)
    for (let i = 0; i < 8; i++) {
      const at = 2 * ((by_columns * registers + r) * 8 + i), [row, col] = bytes.strip.subarray(at, at + 2);
      const strip = { lane: bytes.strip_lane[8 * r + i], register: r, matrix: r % 4, row, col, length };
      for (let j = 0; j < length; j++) cells[row + (by_columns ? j : 0)][col + (by_columns ? 0 : j)] = strip;
    }
  return { name: `${distinct > 4 ? 'two ' : ''}ldmatrix.x${Math.min(distinct, 4)}${trans[by_columns] ? '.trans' : ''}`, cells };
}

// loaded: answers.wasm. Answers { rows, cols, pack, regs, distinct, cells: [row][col] of { lane, register, part },
// lanes: for each [{ row, col, register, part }], rows_way, columns_way: see ldmatrix, or null }.
export function fragment_map(loaded) {
  const { c, words, bytes } = loaded, list = choices(loaded);
  const some = (name) => [...new Set(list.map((choice) => choice[name]))];
  const fields = { shape: one_of(some('shape'), plain.shape), type: one_of(some('type'), plain.type), sum: one_of(some('sum'), plain.sum),
    operand: one_of(operands), view: one_of(views), lane: lane_or_none };

  function answer_of({ shape, type, sum, operand }) {
    const of_shape = list.filter((choice) => choice.shape === shape), types = [...new Set(of_shape.map((choice) => choice.type))];
    if (!types.includes(type)) throw new Error(`${shape} multiplies ${types.join(', ')}, not ${type}`);
    const sums = of_shape.filter((choice) => choice.type === type).map((choice) => choice.sum);
    if (!sums.includes(sum)) throw new Error(`${shape} sums ${type} in ${sums.join(' or ')}, not in ${sum}`);
    const i = list.findIndex((choice) => choice.shape === shape && choice.type === type && choice.sum === sum);
    c.map_show(i, 'abcd'.indexOf(operand) > 1 ? 2 : 'ab'.indexOf(operand));
    const head = words('map_answer', 10), [rows, cols, pack, element, regs, distinct] = head;
    const ways = head.subarray(6, 8), trans = head.subarray(8, 10), answer = { rows, cols, pack, regs, distinct, element, trans };
    const all = bytes('map_answer', 40 + 2 * registers * 32 * places + 2 * 2 * registers * 8 + registers * 8);
    const held = all.subarray(40), strip = held.subarray(2 * registers * 32 * places), strip_lane = strip.subarray(2 * 2 * registers * 8);
    const cells = table(rows, cols), owned = lanes.map(() => []);
    for (let register = 0; register < distinct; register++)
      for (const lane of lanes)
        for (let place = 0; place < pack; place++) {
          const at = 2 * ((register * 32 + lane) * places + place), [row, col] = held.subarray(at, at + 2), part = parts[pack][place];
          cells[row][col] = { lane, register, part };
          owned[lane].push({ row, col, register, part });
        }
    const way = (by_columns) => (ways[by_columns] ? ldmatrix(answer, { strip, strip_lane }, by_columns) : null);
    return { rows, cols, pack, regs, distinct, cells, lanes: owned, ways: { rows: way(0), columns: way(1) }, types, sums };
  }

  const answer = (asked) => {
    const found = answer_of(asked);
    if (asked.view !== 'held' && !found.ways[asked.view])
      throw new Error(`ldmatrix cannot fill ${asked.operand} of ${asked.shape}, ${asked.type}, from ${asked.view}`);
    return found;
  };
  return { fields, answer, list, shapes: some('shape'), ways: (asked) => answer_of(asked).ways };
}
