#!/usr/bin/env node
// How many registers ptxas gives the steps on an H200, and what it spills: makes steps/results/sm_90_ptxas.csv anew.
//
//   node slides/registers.mjs [--build DIR]
//
// ptxas takes half a minute for all of them, so texts quote the table. A row keeps nvcc's release and a fingerprint of the
// PTX: with that release, a kernel that has changed since is noticed.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, root } from './project.mjs';

const file = 'steps/results/sm_90_ptxas.csv';

// The release of nvcc, and a fingerprint of the instructions: lines of the source and comments are no part of them.
export function fingerprint(path) {
  const text = readFileSync(path, 'utf8'), [, release] = text.match(/release (\d+\.\d+)/) ?? [];
  const code = text.replace(/^\s*\.section[^]*?^\s*\}/gm, '').replace(/^\s*\.(loc|file)\s.*$/gm, '').replace(/\/\/.*$/gm, '');
  return { release, ptx: createHash('sha256').update(code.replace(/\s+/g, ' ')).digest('hex').slice(0, 12) };
}

function ptxas(path) {
  const places = ['ptxas', '/usr/local/cuda/bin/ptxas', '/opt/cuda/bin/ptxas'];
  const program = places.find((name) => !spawnSync(name, ['--version']).error) ?? fail('ptxas was not found');
  const arch = /^\.target sm_90a/m.test(readFileSync(path, 'utf8')) ? 'sm_90a' : 'sm_90';  // Hopper's alone, or any card's
  const { status, stderr } = spawnSync(program, [`-arch=${arch}`, '-v', path, '-o', '/dev/null'], { encoding: 'utf8' });
  if (status) fail(`ptxas ${path}: ${stderr}`);
  const gemm = stderr.split(/(?=ptxas info\s*: Compiling entry)/).find((part) => part.includes("'gemm'")) ?? stderr;
  const n = (pattern) => gemm.match(pattern)?.[1] ?? fail(`ptxas ${path} does not say ${pattern}`);
  return [n(/Used (\d+) registers/), n(/(\d+) bytes spill stores/), n(/(\d+) bytes spill loads/)];
}

function main() {
  const args = process.argv.slice(2), build = resolve(args[0] === '--build' ? args[1] : join(root, 'build'), 'steps');
  const rows = readdirSync(build).filter((name) => /^(?!00)\d\d_\w+$/.test(name)).sort().flatMap((folder) =>
    readdirSync(join(build, folder)).filter((name) => name.endsWith('.ptx')).sort().map((name) => {
      const path = join(build, folder, name), { release, ptx } = fingerprint(path);
      return [name.replace('.ptx', ''), release, ptx, ...ptxas(path)].join(',');
    }));
  if (!rows.length || !existsSync(resolve(root, 'steps/results'))) fail(`${build} has no PTX: meson compile -C build`);
  writeFileSync(resolve(root, file), `step,release,ptx,registers,spill_stores,spill_loads\n${rows.join('\n')}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
