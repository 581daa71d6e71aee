// Which lines of kernel.cu the words of a check name: of two compilers they have to be the same.

// By line: where the statement that it belongs to begins. Of a statement of several lines clang tells another than nvcc.
export function statements(source) {
  const begins = [];
  let begin = 0;
  source.split('\n').forEach((text, i) => {
    const code = text.replace(/\/\/.*$/, '').trim();
    begins[i + 1] = begin ||= i + 1;
    if (!code || /[;{}:>]$|^(for|if|while) .*\)$|^#/.test(code)) begin = 0;
  });
  return begins;
}

const finding = /^([a-z][a-z ]*) \((?:memcheck|racecheck|initcheck|synccheck|run)\): .*$/gm;

// Of each finding in the text its kind and the line that it names first, of a race both, whichever came first; without findings,
// the first line to look at.
export function named(text, source) {
  const begins = statements(source), lines = (words) => [...words.matchAll(/\bkernel\.cu:(\d+)/g)].map(([, line]) => begins[line] ?? 0);
  const of = (kind, all) => (kind === 'race' ? all.sort((a, b) => a - b).join(' and ') : all[0] ?? 0);
  const found = [...text.matchAll(finding)].map(([words, kind]) => `${kind}, line ${of(kind, lines(words))}`);
  return found.length ? found : [`look at line ${lines(text.match(/look at kernel\.cu.*/)?.[0] ?? text)[0] ?? 0}`];
}

// Each names first what the other one names, too. (Their order may differ, for each compiler orders the loads of an expression in its way.)
export const agree = (a, b) => a.includes(b[0]) && b.includes(a[0]);
