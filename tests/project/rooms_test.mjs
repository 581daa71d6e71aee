// The rooms of common/ and common/simt/: includes and symbols go to the same room or to one before it, and never round;
// what stands outside of common/simt knows simt/simt.h alone.
//
//   node tests/project/rooms_test.mjs BUILD CC...    the build's folder, and the command of its compiler
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { check_door, check_includes, check_symbols } from './rooms.mjs';

const [build, ...cc] = process.argv.slice(2);
const sources = fileURLToPath(new URL('../..', import.meta.url)), common = join(sources, 'common');

const at_least = (result, least) => {
  for (const [what, n] of Object.entries(least)) assert.ok(result[what] > n, `only ${result[what]} ${what}`);
  assert.deepEqual(result.wrong, []);
};

test('the rooms of the project are in order', () => at_least(check_includes(common), { files: 150, includes: 300 }));
test('they are for the linker', () => at_least(check_symbols(common, build), { files: 150, symbols: 1500 }));
test('the simulated GPU has one door', () =>
  at_least(check_door(sources, 'common/simt', 'simt.h'), { files: 300, includes: 500 }));

// Otherwise a benchmark does not link, which only its user would see.
test('every benchmark is in meson.build', () => {
  const clock = join(common, 'simt', 'clock'), listed = readFileSync(join(clock, 'meson.build'), 'utf8');
  for (const folder of ['bench', 'bench/hopper', 'bench/registers'])
    for (const { name } of readdirSync(join(clock, folder), { withFileTypes: true }).filter((entry) => entry.isFile()))
      assert.ok(listed.includes(`'${folder}/${name}'`), `${folder}/${name} is not built`);
});

// --- Small trees, with something wrong ---

// Calls try_it with a folder of these files, by their names; what is said is what is wrong, and nothing else.
function expect(files, said, try_it) {
  const root = mkdtempSync(join(tmpdir(), 'rooms-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  try {
    const { wrong } = try_it(root);
    assert.equal(wrong.length, said ? 1 : 0, wrong.join('\n'));
    if (said) assert.ok(wrong[0].includes(said), wrong[0]);
  } finally {
    rmSync(root, { recursive: true });
  }
}

// Two rooms, low and high, and two in high: in and out. All is right.
const rooms = {
  'meson.build': "foreach room : ['low', 'high']\n",
  'low/meson.build': '# What all use.\n',
  'high/meson.build': "# What is built of it.\nforeach room : ['in', 'out']\n",
  'high/in/meson.build': '# First.\n',
  'high/out/meson.build': '# Last.\n',
};
const tree = {
  ...rooms,
  'low/a.h': '#include <stdio.h>\n',
  'low/a.c': '#include "a.h"\n',
  'high/in/b.h': '#include "low/a.h"\n',
  'high/in/b.c': '#include "b.h"\n',
  'high/out/c.c': '#include "high/in/b.h"\n#include "low/a.h"\n',
};
const trees = {
  'a right tree passes': [{}],
  'an include of a later room is found':
    [{ 'low/d.c': '#include "high/in/b.h"\n' }, 'low/d.c includes high/in/b.h, of a later room'],
  'an include of a later room of the same folder is found':
    [{ 'high/in/d.c': '#  include "high/out/c.c"\n' }, 'high/in/d.c includes high/out/c.c, of a later room'],
  'an include of nothing is found': [{ 'low/d.h': '#include "e.h"\n' }, 'neither beside it'],
  'a cycle within a room is found':  // only the unit goes round: d.h -> e.h, e.c -> d.h
    [{ 'low/d.h': '#include "e.h"\n', 'low/e.h': '', 'low/e.c': '#include "d.h"\n' },
      'a cycle: low/e.c includes low/d.h; low/d.h includes low/e.h'],
  'a room without a line about it is found': [{ 'high/out/meson.build': '' }, 'high/out: its meson.build'],
};
for (const [name, [files, said]] of Object.entries(trees))
  test(name, () => expect({ ...tree, ...files }, said, check_includes));

// --- The same rooms for the linker ---

const linked = {
  ...rooms,
  'low/a.c': 'int low_a(void) { return 1; }\n',
  'low/d.c': 'int low_a(void);\nint low_d(void) { return low_a(); }\n',
  'high/in/b.c': 'int low_a(void);\nint high_b(void) { return low_a(); }\n',
  'high/out/c.c': 'int low_a(void);\nint high_c(void) { return low_a(); }\n',
};
const objects = {
  'right objects pass': [{}],
  'a symbol of a later room is found': [{ 'low/d.c': 'int high_b(void);\nint low_d(void) { return high_b(); }\n' },
    'low/d.c uses high_b of high/in/b.c, of a later room'],
  'a symbol of a later room of the same folder is found':
    [{ 'high/in/b.c': 'int high_c(void);\nint (*high_b)(void) = high_c;\n' },
      'high/in/b.c uses high_c of high/out/c.c, of a later room'],
  'objects that use each other are found': [{ 'low/a.c': 'int low_d(void);\nint low_a(void) { return low_d(); }\n' },
    'a cycle: low/d.c uses low_a of low/a.c; low/a.c uses low_d of low/d.c'],
};

// Compiles the files, as Meson would note it.
function check_compiled(root) {
  const commands = Object.keys(linked).filter((name) => name.endsWith('.c')).map((file) => {
    execFileSync(cc[0], [...cc.slice(1), '-c', file, '-o', `${file}.o`], { cwd: root });
    return { directory: root, file, output: `${file}.o` };
  });
  writeFileSync(join(root, 'compile_commands.json'), JSON.stringify(commands));
  const result = check_symbols(root, root);
  assert.ok(result.files === 4 && result.symbols >= 3, JSON.stringify(result));
  return result;
}
for (const [name, [files, said]] of Object.entries(objects))
  test(name, () => expect({ ...linked, ...files }, said, check_compiled));

// --- A door ---

const house = {
  'common/machine/meson.build': "# What it is for.\nforeach room : ['gear']\n",
  'common/machine/gear.c': '#include "machine/gear.h"\n',
  'tests/gear/test.c': '#include "machine/gear/wheel.h"\n',
  'steps/step.c': '#include "machine/door.h"\n#include "big_machine/gear.h"\n',
};
const doors = {
  'what uses the door passes': [{}],
  'an include past the door is found': [{ 'steps/step.c': '#include "machine/gear/wheel.h"\n' },
    'steps/step.c includes machine/gear/wheel.h: only machine/door.h is for others'],
  'a test of something else does not pass the door':
    [{ 'tests/support/case.h': '#include "../../common/machine/gear.h"\n' },
      'tests/support/case.h includes ../../common/machine/gear.h'],
};
for (const [name, [files, said]] of Object.entries(doors))
  test(name, () => expect({ ...house, ...files }, said, (root) => check_door(root, 'common/machine', 'door.h')));
