// What the bank explorer asks and is told; the answers are those of the simulator's own cost.c.
import { line, one_of, plain_view, whole } from './address.js';
import { parse } from './expression.js';

export const accesses = ['load', 'store', 'ldmatrix.x1', 'ldmatrix.x2', 'ldmatrix.x4'];
const lanes = [...Array(32).keys()];

export const fields = { access: one_of(accesses), element: one_of([1, 2, 4, 8], 4), vector: one_of([1, 2, 4, 8, 16]),
  width: whole(1, 8192, 32), pad: whole(0, 64, 0), b: whole(0, 5, 0), m: whole(0, 8, 3), s: whole(0, 12, 3), index: line(200, 'lane') };
export const plain = plain_view(fields);

// CuTe's Swizzle<B, M, S>: bits M + S to M + S + B - 1 are XORed into bits M to M + B - 1.
export const swizzled = (index, { b, m, s }) => index ^ (index >> s & (1 << b) - 1 << m);

function in_words(index, what) {
  try {
    return what();
  } catch (error) {
    throw new Error(`the index "${index}": ${error.message}`);
  }
}

// asked: { access, element: bytes of an element, vector: elements a lane, width and pad of a row in elements, index: an
// expression, b, m, s }. Returns { addresses, bytes, indices }, or throws an Error that says what is wrong.
export function addresses_of(asked) {
  const { access, element, width, pad, index } = asked, matrices = Number(access.match(/x(\d)$/)?.[1] ?? 0);
  const bytes = matrices ? 16 : element * asked.vector, used = matrices ? 8 * matrices : 32;
  if (![1, 2, 4, 8, 16].includes(bytes)) throw new Error(`a lane takes 1, 2, 4, 8 or 16 bytes, not ${bytes}`);
  const value = in_words(index, () => parse(index));
  const indices = lanes.map((lane) => {
    const at = in_words(index, () => value({ lane, width, pad, pitch: width + pad }));
    return asked.b ? swizzled(at, asked) : at;
  });
  const addresses = indices.map((at) => at * element);
  for (const lane of lanes.slice(0, used)) {
    const at = addresses[lane];
    if (!Number.isInteger(at) || at < 0) throw new Error(`lane ${lane}: byte ${at} is before the begin of the memory`);
    if (at >= 227 * 1024) throw new Error(`lane ${lane}: byte ${at} is beyond the 227 KB that a block can have`);
    if (at % bytes) throw new Error(`lane ${lane}: byte ${at} is not a multiple of ${bytes}, which this access needs`);
  }
  return { indices, addresses, bytes, matrices, used };
}

const phase_words = 1 + 1 + 32 + 32 * 32;  // struct bank_answer's: lanes, n, words, word

// loaded: answers.wasm. The explorer: asked -> { waves, conflicts, ideal, phases: [{ lanes, passes: [[{ word, lanes },
// ... 32 banks]] }] }.
export function explorer({ c, words }) {
  const answer_of = (asked) => {
    const { indices, addresses, bytes, matrices, used } = addresses_of(asked);
    words('bank_address', 32).set(addresses);
    c.bank_explore(matrices ? 2 : asked.access === 'store' ? 1 : 0, bytes, matrices);
    const answer = words('bank_answer', 4 + 4 * phase_words), [waves, conflicts, ideal, n] = answer;
    const phases = lanes.slice(0, n).map((i) => {
      const at = answer.subarray(4 + i * phase_words, 4 + (i + 1) * phase_words);
      const taken = lanes.filter((lane) => at[0] >>> lane & 1);
      const wants = (lane, word) => addresses[lane] < 4 * word + 4 && addresses[lane] + bytes > 4 * word;
      const passes = lanes.slice(0, at[1]).map((pass) => lanes.map((bank) => {
        if (pass >= at[2 + bank]) return null;
        const word = at[34 + pass * 32 + bank];
        return { word, lanes: taken.filter((lane) => wants(lane, word)) };
      }));
      return { lanes: taken, passes };
    });
    return { waves, conflicts, ideal, phases, indices: indices.slice(0, used), addresses: addresses.slice(0, used), bytes };
  };
  return { fields, answer: answer_of };
}
