#!/usr/bin/env node
// Holds the demos of the decks: what a slide shows below a command is what the command prints. Runs each block of shell that has
// one of text below it on its slide, without a mark, in a folder where the project's folders are. Blanks at the ends of a line
// do not count.
//
//   node slides/demos.mjs BUILD NVCC [DECK...]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { read, root } from './project.mjs';
import { written } from './places.mjs';
import { sample } from './sample.mjs';
import { deck_names } from './texts.mjs';

// A deck whose demo shows what is not printed: it has to be found, or this proves nothing.
const faulty = '## Demo\n\n```sh\necho one\n```\n\n```text\ntwo\n```\n';

const lines = (text) => text.split('\n').map((line) => line.trim()).filter((line) => line);

// Each { command, shown } of a deck.
export function demos(deck) {
  return written(deck).split(/\n---\n/).flatMap((slide) =>
    [...slide.matchAll(/```sh\n([^]*?)```(?=([^]*))/g)].flatMap(([, command, rest]) => {
      const [, between, shown] = rest.match(/^([^]*?)```text\n([^]*?)```/) ?? [];
      return shown === undefined || between.includes('```') || between.includes('<!-- output') ? [] : [{ command, shown }];
    }));
}

// A folder as the room's, and one with the build's nvcc for its PATH; slides_kernels are built by then.
function make_room(build, nvcc) {
  const folder = mkdtempSync(join(tmpdir(), 'demos-')), tools = mkdtempSync(join(tmpdir(), 'demos-'));
  for (const name of ['steps', 'common']) symlinkSync(join(root, name), join(folder, name));
  symlinkSync(build, join(folder, 'build'));
  const tool = (name, does) => writeFileSync(join(tools, name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  tool('nvcc', `exec '${nvcc}' "$@"`);  // by its own path, where it looks for the rest of itself
  tool('meson', '');
  return { folder, tools };
}

function wrong_demos(name, all, { folder, tools }) {
  const env = { ...process.env, PATH: tools + delimiter + process.env.PATH };
  return all.flatMap(({ command, shown }) => {
    const run = spawnSync('bash', ['-c', command], { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 26 });
    const want = lines(shown), got = lines(run.stdout);
    const at = want.findIndex((line, i) => line !== got[i]);
    if (at < 0 && got.length === want.length) return [];
    const line = at < 0 ? want.length : at;
    return [`${name}: the demo shows "${want[line] ?? ''}", and it prints "${got[line] ?? run.stderr.trim().split('\n').pop()}"`];
  });
}

if (process.argv[1] && basename(process.argv[1]) === 'demos.mjs') {
  const [build, nvcc, ...decks] = process.argv.slice(2), room = make_room(resolve(build), nvcc);
  const all = (decks.length ? decks.map((deck) => basename(deck)) : sample(deck_names(), 4))
    .map((name) => ({ name, found: demos(read(`slides/${name}`)) }));
  const wrong = all.flatMap(({ name, found }) => wrong_demos(name, found, room));
  if (wrong_demos('faulty', demos(faulty), room).length !== 1) wrong.push('a demo that prints something else was not found');
  for (const folder of Object.values(room)) rmSync(folder, { recursive: true });
  for (const line of wrong) console.error(line);
  console.log(`${all.reduce((sum, { found }) => sum + found.length, 0)} demos; ${wrong.length || 'nothing'} wrong`);
  process.exitCode = wrong.length ? 1 : 0;
}
