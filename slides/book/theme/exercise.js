// Where an exercise stands, and its grade, by the same rules as exercises/state.c and exercises/grade.c.

// "07b_split_k" -> "7b", as build/course has it.
export const number_of = (name) => name.match(/^0*([^_]+)_/)[1];

// kept: { text, checked, compiled, passed, failed, points }: what was written; the text of the last check, and what came of it.
export function state_of(kept, stub) {
  if (!kept || kept.text === stub) return 'not started';
  if (kept.checked !== kept.text) return 'started';
  return !kept.compiled ? 'does not compile' : kept.failed.length ? 'started' : 'done';
}

// tests: of the check. What does not count needs a GPU.
export function answers_of(tests) {
  const counted = tests.filter(({ counts }) => counts), titles = (list) => list.map(({ title }) => title);
  return { passed: titles(counted.filter(({ state }) => state === 'passed')), failed: titles(counted.filter(({ state }) => state !== 'passed')) };
}

// The grade file. list: [{ name, title, stub, kept }].
export function grade_of(list) {
  const exercises = list.map(({ name, title, stub, kept }) => {
    const state = state_of(kept, stub), fresh = state === 'not started';
    return { name, title, state, points: fresh ? 0 : kept.points, passed: fresh ? [] : kept.passed, failed: fresh ? [] : kept.failed };
  });
  return { points: exercises.reduce((all, { points }) => all + points, 0), of: 100 * list.length, exercises };
}

// The lines of kernel.cu that failing tests name, for the editor: each once, with the test's title.
export function remarks_of(tests) {
  const lines = new Map();
  for (const { title, state, text } of tests.filter((test) => test.state === 'failed'))
    for (const [, line] of text.matchAll(/\bkernel\.cu:(\d+)/g)) if (!lines.has(line)) lines.set(line, { line: Number(line), text: `${title}: ${text}`, severity: state === 'failed' ? 'error' : 'info' });
  return [...lines.values()];
}
