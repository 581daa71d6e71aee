// What an edited text is beside others: which of its lines are new, and which kernel that was built before is nearest to it.
import { aligned } from './align.js';
import { line_of } from './lab.js';

const lines = (text) => text.replace(/\n$/, '').split('\n');

// Which lines came in place of which, as lab_of has it: [{ at, fresh, old }].
export function changes(before, after) {
  const old = lines(before), now = lines(after), pairs = aligned(before, after);
  const same = now.flatMap((text, i) => (old[pairs[i + 1] - 1] === text ? [[pairs[i + 1], i + 1]] : []));
  let left = 1, at = 1;
  return [...same, [old.length + 1, now.length + 1]].flatMap(([to_left, to]) => {
    const block = { at, fresh: to - at, old: old.slice(left - 1, to_left - 1) };
    [left, at] = [to_left + 1, to + 1];
    return block.fresh || block.old.length ? [block] : [];
  });
}

// How many lines of the two are in one alone.
export const distance = (a, b) => changes(a, b).reduce((all, { fresh, old }) => all + Math.max(fresh, old.length), 0);

// sources: [[name, text]]. { name, differ }: how many lines differ.
export const nearest = (text, sources) => sources.map(([name, source]) => ({ name, differ: distance(source, text) }))
  .reduce((best, one) => (best && best.differ <= one.differ ? best : one), null);

// What the compiler, or the checks of a run, say of lines, for the editor.
export const errors_as_remarks = (errors) => errors.map((error) => ({ ...error, severity: 'error' }));
export const findings_as_remarks = (result) => (result?.findings ?? []).map((f) =>
  ({ line: line_of(f), text: `${f.kind}: ${f.text}`, severity: f.level === 'error' ? 'error' : 'warning' }));

// What an edited kernel multiplies: double where its alpha is one, else what the step does. By enum dev_type.
export const type_of = (ptx, plain) => (/\.param \.f64 \w+_param_3\b/.test(ptx) ? 1 : plain);

export const arch_of = (ptx) => ptx.match(/^\.target\s+(sm_\w+)/m)?.[1] ?? 'sm_75';
