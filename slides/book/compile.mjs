// The simulator's own C behind the pages that answer, compiled to WebAssembly with Debian's emscripten.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root, slides } from '../project.mjs';

const answers = ['bank', 'fragment', 'occupancy'].map((name) => join(slides, 'book', 'answers', `${name}.c`));
const rules = ['simt/machine/cost.c', 'simt/machine/fragment.c', 'simt/machine/fragment_list.c', 'base/card.c', 'base/occupancy.c', 'base/text.c'].map((path) => join(root, 'common', path));
const exported = ['bank_explore', 'bank_address', 'bank_answer', 'map_choose', 'map_choice', 'map_show', 'map_answer', 'fit_choose',
  'fit_card', 'fit_show', 'fit_answer', 'fit_curve', 'fit_warps'];

// Leaves answers.wasm at the path. Returns what is missing, or nothing.
export function compile_answers(to) {
  mkdirSync(dirname(to), { recursive: true });
  // occupancy.c can ask ptxas, too: nothing here calls that, and the linker leaves it out.
  const run = spawnSync('emcc', ['-O2', `-I${join(root, 'common')}`, '-DPTXAS=""', '--no-entry', '-sSTANDALONE_WASM',
    `-sEXPORTED_FUNCTIONS=${exported.map((name) => `_${name}`)}`, ...answers, ...rules, '-o', to], { encoding: 'utf8' });
  if (run.error) return 'emcc is not on the PATH (apt-get install emscripten): the pages that answer are left out';
  if (run.status) throw new Error(`emcc: ${run.stderr}`);
  return '';
}
