// In a fresh clone what makes the book begins without the packages, for it is what installs them: no script names one among its
// imports, but asks for it where it is used.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from './project.mjs';

const folder = mkdtempSync(join(tmpdir(), 'clone-'));
try {
  cpSync(join(root, 'slides'), join(folder, 'slides'), { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  for (const script of ['slides/book/make.mjs', 'slides/lab_test.mjs', 'slides/book_test.mjs', 'slides/exercise_page_test.mjs']) {
    const { stderr } = spawnSync(process.execPath, [join(folder, script)], { encoding: 'utf8' });
    if (!/ERR_MODULE_NOT_FOUND/.test(stderr)) continue;
    console.error(`${script}: ${stderr.match(/Cannot find .*/)[0]}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
