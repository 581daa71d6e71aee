// What the project's own programs say: they read kernels and tables, so that no text is taken apart here.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail, root } from './project.mjs';

// A program's standard output.
export function run(path, build, args) {
  if (!existsSync(path)) fail(`${path} is missing: meson compile -C ${build}`);
  try {
    return execFileSync(path, args, { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return fail(`${path} ${args.join(' ')}: ${error.stderr}`);
  }
}

const said = new Map();

// The JSON that a program prints; it is run once.
function json(path, build, args) {
  const key = [path, ...args].join(' ');
  if (!said.has(key)) said.set(key, JSON.parse(run(path, build, args)));
  return said.get(key);
}

// What a step's driver says of itself, or of the PTX file.
export const describe = (build, driver, ptx) =>
  json(join(build, driver), build, ['--describe', ...(ptx ? ['--ptx', ptx] : [])]);

// What the parts of each step are worth at a size, as build/worth has it: of the project's own list and tables.
export function worth_files() {
  const at = (name) => resolve(root, 'steps', name);
  return ['--variants', at('variants/variants.txt'), '--times', at('results/h200_worth.csv'), '--counts', at('results/h200_worth_frozen.csv')];
}

export const parts = (build, size) =>
  json(join(build, 'worth'), build, ['--json', '-', '--size', String(size), ...worth_files()]);

// The rows of a table, each { column: field, at: its place }.
export function table(build, path) {
  const { columns, rows } = json(join(build, 'table'), build, [resolve(root, path)]);
  return rows.map((row, i) => ({ ...Object.fromEntries(columns.map((name, at) => [name, row[at]])), at: `${path}:${i + 2}` }));
}
