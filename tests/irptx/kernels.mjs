// Kernels to PTX as the page makes it, by the program irptx in place of its module.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { headers, load_clang } from '../../slides/book/lab/compile_files.mjs';
import { to_ir } from '../../slides/book/lab/compile.mjs';
import { root } from '../../slides/project.mjs';

// Every build of a step: { name, step, arch, defines }.
export function steps() {
  const listed = readFileSync(join(root, 'steps', 'meson.build'), 'utf8').matchAll(/^ {2}\['(\w+)', 'compute_(\w+)', \[(.*)\]\],$/gm);
  return [...listed].flatMap(([, step, target, types]) => ['', ...types.match(/\w+/g) ?? []].map((type) => ({ step, arch: `sm_${target}`,
    name: type ? `${step}_${type}` : step, defines: type ? [`-DREAL=${type}`] : [] })));
}

// A function of a kernel's path, its architecture and defines that leaves IR and PTX in files of that path, without ending.
// It returns what was wrong: clang's errors or irptx's line; '' if nothing was.
export async function compiler(irptx) {
  const runLLVM = await load_clang(), included = headers();
  return async (kernel, arch, defines, to) => {
    const { ir, errors } = await to_ir(runLLVM, included, readFileSync(kernel, 'utf8'), arch, defines);
    if (errors) return errors.map(({ line, text }) => `kernel.cu:${line}: ${text}`).join('\n');
    mkdirSync(dirname(to), { recursive: true });
    // The page's kernel is kernel.cu, with the course's headers beside it; files have the names of the sources.
    writeFileSync(`${to}.ll`, ir.replace(/(!DIFile\(filename: ")(kernel\.cu|common\/[^"]*)/g,
      (_, before, name) => before + (name === 'kernel.cu' ? kernel : join(root, name))));
    try {
      execFileSync(irptx, [`${to}.ll`, `${to}.ptx`], { stdio: ['ignore', 'ignore', 'pipe'] });
      return '';
    } catch (error) {
      return `${error.stderr}`.trim() || `${error}`;
    }
  };
}
