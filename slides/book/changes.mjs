// What changed from one step to the next: diff's lines as HTML, beside each other where there is room, else below.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fail } from '../project.mjs';

const words = (text) => text.match(/\w+|\s+|[^\w\s]/g) ?? [];
const escape = (text) => text.replace(/[&<>{}]/g, (c) => `&#${c.charCodeAt(0)};`);

// --- diff ---

// [{ same: [line] } | { old: [line], fresh: [line] }]; a line: { text, number, other }, number counted in its own file.
export function blocks(before, after) {
  const run = spawnSync('diff', ['-U', '100000', before, after], { encoding: 'utf8' });
  if (run.error || run.status > 1) fail(`diff ${before} ${after}: ${run.error?.message ?? run.stderr}`);
  if (run.status === 0) return [{ same: readFileSync(after, 'utf8').trimEnd().split('\n').map((text, i) => ({ text, number: i + 1, other: i + 1 })) }];
  const found = [];
  let left = 0, right = 0;
  for (const line of run.stdout.trimEnd().split('\n').slice(3)) {
    const kind = line[0], text = line.slice(1);
    if (kind === '\\') continue;
    const wanted = kind === ' ' ? 'same' : 'old';
    if (!found.at(-1)?.[wanted]) found.push(kind === ' ' ? { same: [] } : { old: [], fresh: [] });
    const block = found.at(-1);
    if (kind !== '+') left++;
    if (kind !== '-') right++;
    if (kind === ' ') block.same.push({ text, number: right, other: left });
    else if (kind === '-') block.old.push({ text, number: left });
    else block.fresh.push({ text, number: right });
  }
  return found;
}

// --- lines that are alike: only the words that differ are marked ---

function likeness(a, b) {
  const [x, y] = [a, b].map((text) => words(text).filter((word) => word.trim()));
  const rest = [...y];
  const shared = x.filter((word) => { const at = rest.indexOf(word); if (at >= 0) rest.splice(at, 1); return at >= 0; });
  return x.length + y.length ? 2 * shared.length / (x.length + y.length) : 0;
}

// Which line became which: pairs in order, with the greatest likeness in all.
export function pairs(old, fresh) {
  const best = Array.from({ length: old.length + 1 }, () => new Array(fresh.length + 1).fill(0));
  const alike = old.map((a) => fresh.map((b) => { const l = likeness(a.text, b.text); return l > 0.5 ? l : 0; }));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], alike[i][j] && alike[i][j] + best[i + 1][j + 1]);
  const found = [];
  for (let i = 0, j = 0; i < old.length && j < fresh.length;) {
    if (best[i][j] === best[i + 1][j]) i++;
    else if (best[i][j] === best[i][j + 1]) j++;
    else found.push([i++, j++]);
  }
  return found;
}

// The first and the last place at which two lines differ, in whole words: [from, to] of each.
export function difference(a, b) {
  const [x, y] = [words(a), words(b)], least = Math.min(x.length, y.length);
  let head = 0, tail = 0;
  while (head < least && x[head] === y[head]) head++;
  while (tail < least - head && x.at(-1 - tail) === y.at(-1 - tail)) tail++;
  const length = (list) => list.join('').length;
  return [x, y].map((list) => [length(list.slice(0, head)), length(list.slice(0, list.length - tail))]);
}

// --- HTML ---

let highlighter;
const coloured_before = new Map();  // each kernel is in two pages

const plain = (path) => readFileSync(path, 'utf8').split('\n').map((content) => [{ content, variants: { light: {}, dark: {} } }]);

async function coloured(path) {
  const [{ createHighlighter }, { themes }] = await Promise.all(['shiki', './themes.mjs'].map((name) => import(name)));
  highlighter ??= await createHighlighter({ themes: Object.values(themes), langs: ['cpp'] });
  const names = { light: themes.light.name, dark: themes.dark.name };
  if (!coloured_before.has(path))
    coloured_before.set(path, highlighter.codeToTokensWithThemes(readFileSync(path, 'utf8'), { lang: 'cpp', themes: names }));
  return coloured_before.get(path);
}

// Blanks stand outside of the span: at the end of a line they may reach beyond the page.
function piece(text, { light, dark }) {
  const word = text.trim(), at = text.indexOf(word), span = `<span style="--l:${light.color};--d:${dark.color}">${escape(word)}</span>`;
  return word ? text.slice(0, at) + span + text.slice(at + word.length) : text;
}

// A line's tokens, with a mark from one place to another.
function line_html(tokens, [from, to] = [0, 0]) {
  let at = 0, html = ['', '', ''];
  for (const { content, variants } of tokens) {
    const cuts = [0, from - at, to - at, content.length].map((cut) => Math.min(Math.max(cut, 0), content.length));
    for (let part = 0; part < 3; part++)
      if (cuts[part + 1] > cuts[part]) html[part] += piece(content.slice(cuts[part], cuts[part + 1]), variants);
    at += content.length;
  }
  return html[0] + (html[1] && `<mark>${html[1]}</mark>`) + html[2];
}

// A line is a <pre>: elsewhere Vue makes one blank of many.
function row(sign, number, html) {
  return `<div class="line"><span class="number">${number}</span><span class="sign">${sign}</span><pre>${html || ' '}</pre></div>`;
}

function block_html(block, left, right, name) {
  const side = (kind, rows) => `<div class="${kind}">${rows.join('')}</div>`;
  if (block.same)
    return `<div class="same">${side('old', block.same.map(({ other }) => row(' ', other, line_html(left[other - 1]))))}` +
      `${side('fresh', block.same.map(({ number }) => row(' ', number, line_html(right[number - 1]))))}</div>`;
  const marks = { old: [], fresh: [] };
  for (const [i, j] of pairs(block.old, block.fresh))
    [marks.old[i], marks.fresh[j]] = difference(block.old[i].text, block.fresh[j].text);
  return `<div class="changed" id="${name}">` +
    side('old', block.old.map(({ number }, i) => row('−', number, line_html(left[number - 1], marks.old[i])))) +
    side('fresh', block.fresh.map(({ number }, i) => row('+', number, line_html(right[number - 1], marks.fresh[i])))) + '</div>';
}

// { html, come, go }: the two files, in colours or plain, with the lines that come and go.
export async function compared(before, after, heads, in_colours) {
  const found = blocks(before, after), [left, right] = await Promise.all([before, after].map(in_colours ? coloured : plain));
  const changed = found.filter((block) => !block.same);
  const sum = (kind) => changed.reduce((n, block) => n + block[kind].length, 0);
  const html = found.map((block) => block_html(block, left, right, `change-${changed.indexOf(block) + 1}`)).join('');
  const jumps = changed.map((_, i) => `<a href="#change-${i + 1}">${i + 1}</a>`).join(' ');
  return { come: sum('fresh'), go: sum('old'),
    html: `<p class="jumps">Changes: ${jumps}</p>\n\n<div class="compared" v-pre><div class="heads"><div>${heads[0]}</div>` +
      `<div>${heads[1]}</div></div>${html}</div>` };
}
