// The man pages have the options and commands that --help lists, and no others.
//
//   node tests/programs/man_test.mjs BUILD
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

// "--grid X,Y,Z", "--by-line", "inspect". In --help a line that lists something begins with two spaces and its name. One
// space, and an option's value follows; two, and the explanation does.
function listed_in_help(program) {
  const said = execFileSync(join(process.argv[2], program), ['--help'], { encoding: 'utf8' });
  return [...said.matchAll(/^ {2}(--\S+(?: (?! )\S+)?|[a-z]+(?= {2}))/gm)].map(([, name]) => name);
}

// ".It Fl -grid Ar X,Y,Z", ".It Cm inspect".
function listed_in_page(path) {
  const page = readFileSync(new URL(`../../common/${path}`, import.meta.url), 'utf8');
  return [...page.matchAll(/^\.It (?:Fl (-\S+)(?: Ar (\S+))?|Cm (\S+))/gm)].map(([, option, value, command]) =>
    command ?? `-${option}${value ? ` ${value}` : ''}`);
}

for (const [program, path, least] of [['simt', 'simt/cli/simt.1', 30], ['ladder', 'tools/ladder.1', 19]])
  test(`${program}.1 has the options of ${program} --help`, () => {
    const help = listed_in_help(program);
    assert.ok(help.length >= least, `${help.length} options in --help`);
    assert.deepEqual(listed_in_page(path).sort(), help.sort());
  });
