// Which line of one text is which of another: the longest common lines, and between them those that were changed, in order.

// Of the longer text, at least half of the lines that say something stand in the other one, too.
export function alike(a, b) {
  const [x, y] = [a, b].map((text) => text.split('\n').map((line) => line.trim()).filter((line) => line.length > 1));
  const [long, short] = x.length > y.length ? [x, new Set(y)] : [y, new Set(x)];
  return 2 * long.filter((line) => short.has(line)).length >= long.length;
}

// Returns by line of b, counted from 1, the line of a; undefined where there is none.
export function aligned(a, b) {
  const [x, y] = [a, b].map((text) => text.replace(/\n$/, '').split('\n'));
  const best = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1)), found = [];
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      best[i][j] = x[i] === y[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  for (let i = 0, j = 0; j < y.length;) {
    let left = i, right = j;
    while (left < x.length && right < y.length && x[left] !== y[right]) best[left + 1][right] >= best[left][right + 1] ? left++ : right++;
    if (left === x.length || right === y.length) [left, right] = [x.length, y.length];
    for (let k = 0; j + k < right && i + k < left; k++) found[j + k + 1] = i + k + 1;
    if (right < y.length) found[right + 1] = left + 1;
    [i, j] = [left + 1, right + 1];
  }
  return found;
}
