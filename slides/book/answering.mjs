// The pages that answer: banks, fragments, occupancy. theme/ has what they do, answers/ the C behind them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from '../programs.mjs';
import { rows_of } from '../results.mjs';
import { steps } from './pages.mjs';

const head = '---\npageClass: code\naside: false\n---\n';
const own = (path) => `The answer is the simulator's own: this page runs \`${path}\`, compiled to WebAssembly.`;

function banks_page() {
  const text = `${head}
# Banks

What does one access to shared memory cost? Choose a pattern, or change it. ${own('common/simt/machine/cost.c')}

<BankExplorer />

**Index of a lane** is an expression with \`lane\` (0 to 31), \`width\`, \`pad\` and \`pitch\`, their sum: \`lane * pitch\`
is a column of a tile. It counts elements. \`+ - * / % & | ^ ~ << >>\` mean what they mean in C.

**Swizzle** B, M, S is CuTe's: the B bits of the index from bit M + S on are XORed into the B bits from bit M on. B = 0 is
none.

**A phase** is the lanes that are served together: all 32 up to 4 bytes a lane, 16 for 8 bytes, 8 for 16 bytes, and the
eight rows of a matrix for ldmatrix. Each row of the picture is a wavefront, each column a bank; \`0+3\` is lane 0 and three
more that want the same word. Red cells come in a wavefront beyond the first: conflicts.
`;
  return { url: 'banks', title: 'Banks', text: () => text };
}

function fragments_page() {
  const text = `${head}
# Fragments

A tensor core multiplies matrices that no thread holds alone: each lane of the warp has a few elements in its registers.
Which ones? ${own('common/simt/machine/fragment.c')}

<FragmentMap />

**Colours** stand for lanes: lane 0, 8, 16 and 24 have the same one. \`a1.hi\` is the high half of the second register of A:
a register of 32 bits holds two halves, or four bytes.

**ldmatrix** fills A or B from shared memory. Each lane names the address of one row of 16 bytes, and gets elements of others'
rows. \`.trans\` turns each matrix of 8 x 8 on the way, and takes elements of 16 bits only. In a terminal:
\`simt draw --fragment a --shape m16n8k16 --type f16 --out a.svg\`.
`;
  return { url: 'fragments', title: 'Fragments', text: () => text };
}

// --- occupancy ---

// What a step's blocks ask for: its launch from its driver, its registers from the table of ptxas.
export function step_uses(build) {
  const built = (step) => steps().includes(step) && existsSync(join(build, step));
  const rows = rows_of(build, 'ptxas').filter(({ step }) => built(step));
  return rows.map(({ step, registers }) => {
    const { geometry, static_shared: fixed } = describe(build, step);
    return { name: step, threads: geometry.threads, registers: Number(registers), shared: fixed + geometry.shared };
  });
}

function occupancy_page(build) {
  const uses = step_uses(build).map((use) => ({ ...use, name: `step ${use.name.slice(0, 2)}` }));
  const text = `${head}
# Occupancy

How many blocks of a launch fit on an SM, and what decides? ${own('common/base/occupancy.c')}

<OccupancySum :steps='${JSON.stringify(uses)}' />

**Registers** are given to warps in units of 256, and each of the SM's four parts has a quarter of them. \`ptxas\` says how
many a thread takes; any step's \`--profile\` prints this whole sum. **Shared memory** is given in units of 128 bytes,
and from compute capability 8.0 on each block takes 1 KiB more than it asks for.

**Fit** is how many blocks an SM could hold if only this mattered; the least of the four decides. **More blocks** has the most of a resource with which one more block fits, the rest
unchanged. **Fewer blocks** has the least with which one fewer does.
`;
  return { url: 'occupancy', title: 'Occupancy', text: () => text };
}

export const answering_pages = (build) => [banks_page(), fragments_page(), occupancy_page(build)];

// Which of them help with another page: text and link, below that page's title, or below the heading that is named.
export const helps = {
  'lab/00_machine': [['Banks', 'banks', 'Banks, wavefronts, conflicts'], ['Occupancy', 'occupancy', 'Occupancy by hand']],
  'chapters/03_thread_tile_1d': [['Occupancy', 'occupancy?registers=32']],
  'chapters/04_thread_tile_2d': [['Occupancy', 'occupancy']],
  'chapters/05_vectorized': [['Banks', 'banks?vector=4&index=lane+*+4']],
  'chapters/08_wmma': [['Fragments', 'fragments?shape=wmma.m16n16k16']],
  'chapters/10_wmma_padding': [['Banks', 'banks?access=ldmatrix.x4&element=2&vector=8&pad=8&index=lane+%25+16+*+pitch+%2B+lane+%2F+16+*+8']],
  'chapters/11_mma_ptx': [['Fragments', 'fragments'], ['ldmatrix', 'fragments?view=rows']],
  'chapters/12_mma_swizzle': [['Banks', 'banks?access=ldmatrix.x4&element=2&vector=8&width=64&b=3&index=lane+%25+16+*+pitch+%2B+lane+%2F+16+*+8']],
  'exercises/10_padding': [['Banks', 'banks']],
  'exercises/11_ldmatrix': [['ldmatrix', 'fragments?view=rows']],
  'exercises/12_swizzle': [['Banks', 'banks']],
  'exercises/05b_wide_banks': [['Banks', 'banks?element=8']],
  'exercises/04b_occupancy': [['Occupancy', 'occupancy']],
};
