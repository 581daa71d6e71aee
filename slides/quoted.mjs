// Rows of steps/results that some text has to quote: what nobody quotes nobody needs.
import { asked } from './places.mjs';
import { read } from './project.mjs';
import { rows_of } from './results.mjs';
import { texts } from './texts.mjs';

export function unquoted(build) {
  const all = texts().flatMap((name) => asked(read(name))).join('\n');
  const quoted = new Set([...all.matchAll(/\b(trial|bound) ([\w.-]+)/g)].map((m) => `${m[1]} ${m[2]}`));
  const missing = (kind) => rows_of(build, `${kind}s`).filter((row) => !quoted.has(`${kind} ${row.id}`));
  return ['trial', 'bound'].flatMap(missing).map((row) => `${row.at} "${row.id}" is in no text`);
}
