// What the simulated GPU said is kept in the build, so that only what has changed since is run again.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function stamp(path) {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${path} ${size} ${mtimeMs}`;
}

// What make returns, a text; made anew if one of the files has changed. name: what is made, in words.
export function kept(build, name, files, make) {
  const folder = join(build, 'slides', 'kept'), path = join(folder, createHash('sha256').update(name).digest('hex').slice(0, 16));
  const now = files.map(stamp).join('\n');
  try {
    const { then, made } = JSON.parse(readFileSync(path, 'utf8'));
    if (then === now) return made;
  } catch {
    // Nothing is kept, or it cannot be read: it is made.
  }
  const made = make();
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, JSON.stringify({ then: now, made }));
  return made;
}
