#!/usr/bin/env node
// Brings the texts of the course up to date with the kernels, the results and the simulator: chapters, tasks, READMEs and
// decks, and the decks' pictures. README.md lists the marks by which a text asks for numbers, code and tables.
//
//   node slides/refresh.mjs [--build DIR] [--check] [TEXT...]
//
// --check changes nothing, names what is stale, and exits with 1. Exit 2: something that a text asks for is not there, or a
// number comes from nowhere. With TEXT, a file, only those texts, and no pictures.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { too_long } from './lengths.mjs';
import { refresh } from './marks.mjs';
import { root, slides } from './project.mjs';
import { unquoted } from './quoted.mjs';
import { sample } from './sample.mjs';
import { by_another_ptxas, draw, pictures } from './sources.mjs';
import { texts } from './texts.mjs';
import { unmarked, unmeant_lists, wrong_sums } from './unmarked.mjs';

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// Each of these looks at its part, mends it unless check is set, and returns { stale, wrong }: lines for a reader.
function look_at_pictures(build, check) {
  const stale = [], wrong = [];
  for (const picture of check ? sample(pictures(), 6) : pictures()) {
    const path = join(slides, 'pictures', picture.file);
    try {
      if (check && by_another_ptxas(build, picture)) continue;
      const made = draw(build, picture), old = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
      if (made === old) continue;
      stale.push(`${relative(root, path)} is not what is drawn today`);
      if (!check) write(path, made);
    } catch (error) {
      wrong.push(error.message);
    }
  }
  return { stale, wrong };
}

function look_at_text(name, build, check) {
  const path = resolve(root, name), old = readFileSync(path, 'utf8');
  const { made, stale, wrong } = refresh(old, build), left = check ? old : made;
  if (!check && made !== old) write(path, made);
  const at = ({ line, message }) => `${name}:${line} ${message}`;
  return { stale: stale.map(({ line, was, is }) => `${name}:${line} ${was} -> ${is}`),
    wrong: [...wrong.map(at), ...unmarked(name, left).map(at), ...unmeant_lists(left).map(at), ...wrong_sums(left).map(at),
      ...too_long(name, left).map(at)] };
}

function bring_up_to_date(build, check, named) {
  const parts = named.length ? [] : [look_at_pictures(build, check)];
  for (const name of named.length ? named : check ? sample(texts(), 12) : texts()) parts.push(look_at_text(name, build, check));
  if (!named.length) parts.push({ stale: [], wrong: unquoted(build) });
  const stale = parts.flatMap((part) => part.stale), wrong = parts.flatMap((part) => part.wrong);
  for (const line of wrong) console.error(line);
  for (const line of stale) (check ? console.error : console.log)(line);
  if (check && stale.length) console.error(`stale: ${stale.length}; node slides/refresh.mjs mends them`);
  return wrong.length ? 2 : check && stale.length ? 1 : 0;
}

function main() {
  const args = process.argv.slice(2), usage = 'usage: node slides/refresh.mjs [--build DIR] [--check] [TEXT...]';
  const at = args.indexOf('--build');
  const build = at < 0 ? join(root, 'build') : args.splice(at, 2)[1];
  const option = args[0]?.startsWith('-') ? args.shift() : '';
  const named = args.map((path) => relative(root, resolve(path)));
  const missing = named.find((name) => !existsSync(resolve(root, name)));
  if (!build || !['', '--check'].includes(option) || missing) {
    console.error(missing ? `${missing} is missing` : usage);
    return 2;
  }
  return bring_up_to_date(resolve(build), option === '--check', named);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
