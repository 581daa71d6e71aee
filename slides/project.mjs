// The project's folder, its files, and the names of its steps.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const slides = dirname(fileURLToPath(import.meta.url));
export const root = resolve(slides, '..');

export function fail(message) {
  throw new Error(message);
}

export function read(path) {
  const full = resolve(root, path);
  return existsSync(full) ? readFileSync(full, 'utf8') : fail(`${path} is missing`);
}

// The only folder of steps or exercises whose number it is.
export function only_folder(where, digits) {
  const found = readdirSync(resolve(root, where)).filter((name) => name.startsWith(`${digits}_`));
  return found.length === 1 ? found[0] : fail(`${found.length} ${where} begin with ${digits}, not one`);
}

// "04" stands for 04_thread_tile_2d, "02_double" for 02_smem_tile_double; another name stands for itself.
export function step_name(text) {
  const [, digits, double] = text.match(/^(\d\d)(_double)?$/) ?? [];
  return digits ? only_folder('steps', digits) + (double ?? '') : text;
}

// The number of the only line of a file that begins with the text.
export function line_of(path, text) {
  const lines = read(path).split('\n').map((line) => line.trim());
  const found = lines.flatMap((line, i) => (line.startsWith(text) ? [i + 1] : []));
  return found.length === 1 ? found[0] : fail(`${path}: ${found.length} lines begin with "${text}", not one`);
}
