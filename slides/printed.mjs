// What programs print: the ladder on a GPU, from the table of times; others by running them on the simulated GPU.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pick } from './code.mjs';
import { kept } from './kept.mjs';
import { fixed, percent, rate, time } from './numbers.mjs';
import { fail, read, root } from './project.mjs';
import { times } from './results.mjs';
import { other_ptxas, variants } from './sources.mjs';

const fenced = (lines) => ['```text', ...lines, '```'].join('\n');

// Whether a step is for Hopper alone: its kernel says so by its header.
function for_hopper(step) {
  const kernel = `steps/${step}/kernel.cu`;
  return existsSync(join(root, kernel)) && read(kernel).includes('"hopper.cuh"');
}

// What build/ladder printed when it made the table of times, at that size.
export function ladder(size, build) {
  const rows = times(build, size), first = {}, last = {};
  let hopper = false;
  if (!rows.length) fail(`there are no times at ${size}`);
  const line = (step, type, verdict, ...cells) => [step.padEnd(24), type.padEnd(4), '', verdict.padEnd(9), '',
    ...cells].join(' ');
  const cells = (ms, tflops) => `${time(ms).padStart(9)}  ${rate(tflops).padStart(9)}`;
  const lines = [`Device: ${rows[0].device} (${rows[0].detail})`,
    `C = 1 * A * B + 0 * C, M ${size}, N ${size}, K ${size}; median of ${rows[0].runs} runs, L2 cache ${rows[0].l2} before each`,
    '', line('step', 'type', 'result', '     time    TFLOP/s  step before  of cuBLAS')];
  for (const r of rows) {
    if (r.type === 'f16' && !last.f16)
      lines.push('from here on A, B and C are halves, multiplied by tensor cores and summed in float:');
    if (for_hopper(r.step) && !hopper) lines.push('from here on the kernels use what Hopper alone has:');
    hopper = for_hopper(r.step);
    const before = last[r.type] ? `x ${(last[r.type].ms / r.ms).toFixed(2)}` : '-';
    lines.push(line(r.step, r.type, 'right', `${cells(r.ms, r.tflops)}  ${before.padStart(11)}  ${percent(r.tflops / r.baseline_tflops).text.padStart(9)}`));
    first[r.type] ??= r;
    last[r.type] = r;
  }
  for (const type of ['f32', 'f64', 'f16'].filter((t) => last[t]?.baseline_tflops)) {
    const r = first[type], ms = 2e-9 * r.m * r.n * r.k / r.baseline_tflops;
    const drift = 100 * (r.after / r.baseline_tflops - 1), sign = drift < 0 ? '' : '+';
    lines.push(line(r.baseline, type, '', `${cells(ms, r.baseline_tflops)}  and ${rate(r.after)} at the end ` +
      `(${sign}${fixed(drift, 1)} %)`));
  }
  return fenced(lines);
}

const words = (command) => command.match(/'[^']*'|\S+/g).map((word) => word.replaceAll("'", ''));

function print(program, args, build) {
  if (!existsSync(program)) fail(`${program} is missing: compile the build`);
  const folder = join(build, 'steps', basename(program).replace(/_double$/, ''));  // of a driver
  const own = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.ptx')).map((name) => join(folder, name)) : [];
  const files = [program, ...own, ...args.filter((arg) => arg.endsWith('.ptx'))];
  return kept(build, [program, ...args].join(' '), files, () => {
    const { stdout, error, signal } = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
    return error || signal ? fail(`${program} ${args.join(' ')}: ${error?.message ?? signal}`) : stdout;
  });
}

// COMMAND, or COMMAND : "first" .. "last" for some of the lines. The program is one of build/, and so may be files. The
// file of a variant reads as kernel.cu, which it would be if a learner made the change. null: what stands there may stay.
export function output(text, build) {
  const [, command, where] = text.match(/^(.*?)(?: : (".*))?$/s);
  if (!command.startsWith('build/')) fail(`"${command}" is no program of build/`);
  const [program, ...args] = words(command).map((word) => word.replace(/^build(?=\/)/, build));
  if (args.includes('--predict') && other_ptxas(build, basename(program))) return null;
  const said = print(program, args, build).replace(/\b(\w+)\.cu\b/g, (file, name) => (name in variants ? 'kernel.cu' : file));
  const lines = said.trimEnd().split('\n').map((line) => line.trimEnd());
  return fenced(where ? pick(lines, where, (line, begin) => line.trim().startsWith(begin), true).flat() : lines);
}
