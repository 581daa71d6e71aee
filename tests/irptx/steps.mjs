// The PTX of the steps as the page makes it, in a folder like that of a build: FOLDER/STEP/STEP.ptx.
//
//   node tests/irptx/steps.mjs IRPTX FOLDER [STEP...]
import { join, resolve } from 'node:path';
import { root } from '../../slides/project.mjs';
import { compiler, steps } from './kernels.mjs';

const [irptx, folder, ...only] = process.argv.slice(2);
const compile = await compiler(resolve(irptx));
for (const { name, step, arch, defines } of steps()) {
  if (only.length && !only.includes(name)) continue;
  const begun = process.cpuUsage();
  const wrong = await compile(join(root, 'steps', step, 'kernel.cu'), arch, defines, resolve(folder, step, name));
  console.log(`${name}: ${wrong || `${(process.cpuUsage(begun).user / 1e6).toFixed(1)} s`}`);
  if (wrong) process.exitCode = 1;
}
