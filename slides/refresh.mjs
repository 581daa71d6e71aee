#!/usr/bin/env node
// Brings the decks up to date with the kernels, the results and the simulator: code, differences, tables, single values
// and pictures. README.md lists the marks by which a deck asks for them.
//
//   node slides/refresh.mjs [--build DIR] [--check | --links]
//
// --check changes nothing, names what is stale, and exits with 1. --links only looks whether all that the decks link to
// exists, and exits with 1 if not. Exit 2: something that a deck asks for is not there, or a number comes from nowhere.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { calculate, draw, fail, measured, metric, pictures, read, result, root, simulated, SIZE,
  slides } from './sources.mjs';

// --- how numbers are written, as in the chapters ---

const grouped = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');

// As C's printf rounds: what lies exactly between two goes to the even one, 51.25 to 51.2.
function fixed(x, digits) {
  const tie = x.toFixed(60).match(new RegExp(`^(.*\\.\\d{${digits}})50*$`));  // all its digits; cut, if it is a tie
  if (!tie) return x.toFixed(digits);
  return /[02468]\.?$/.test(tie[1]) ? tie[1].replace(/\.$/, '') : x.toFixed(digits);
}

const rate = (tflops) => fixed(tflops, tflops >= 9.995 ? 1 : 2);
const three_digits = (x) => fixed(x, x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2);
const time = (ms) => (ms < 1 ? `${three_digits(ms * 1000)} us` : `${three_digits(ms)} ms`);
const share = (r) => `${fixed(100 * r.tflops / r.baseline_tflops, 1)} %`;

// --- code ---

// "bare" before the texts: without comments.
function bare(parts, where) {
  if (!where.startsWith('bare ')) return parts;
  const code = (line) => line.replace(/\s*\/\/.*$/, '');
  return parts.map((part) => part.filter((line) => !/^[-+ ]?\s*\/\//.test(line)).map(code));
}

// The lines of every "first" .. "last" in turn, "..." between them. A text is how a line begins; "first" alone is a line.
function pick(lines, where, begins) {
  const parts = [];
  for (const range of where.matchAll(/"([^"]*(?:\\"[^"]*)*)"(?:\s*\.\.\s*"([^"]*(?:\\"[^"]*)*)")?/g)) {
    const [first, last] = range.slice(1).map((text) => text?.replaceAll('\\"', '"'));
    const at = lines.flatMap((line, i) => (begins(line, first) ? [i] : []));
    if (at.length !== 1) fail(`${at.length} lines begin with "${first}", not one`);
    const n = last === undefined ? 0 : lines.slice(at[0]).findIndex((line) => begins(line, last));
    if (n < 0) fail(`no line after "${first}" begins with "${last}"`);
    parts.push(lines.slice(at[0], at[0] + n + 1));
  }
  return parts.length ? parts : fail(`"first" .. "last" is missing: ${where}`);
}

const indent = (line) => line.match(/^ */)[0].length;

function code([path, where]) {
  const parts = bare(pick(read(path).split('\n'), where, (line, text) => line.trim().startsWith(text)), where);
  const depth = Math.min(...parts.flat().filter((line) => line.trim()).map(indent));
  return [path.endsWith('.cu') ? '```cpp' : '```text', parts.map((part) => part.map((line) => line.slice(depth)).join('\n')).join('\n...\n'), '```'].join('\n');
}

function difference(a, b) {
  try {
    execFileSync('diff', ['-U2', `steps/${a}/kernel.cu`, `steps/${b}/kernel.cu`], { cwd: root });
    return fail(`${a} and ${b} have the same kernel`);
  } catch (error) {
    if (error.status !== 1) throw error;
    return error.stdout.toString().split('\n').slice(2, -1);
  }
}

function diff([steps, where]) {
  const begins = (line, text) => (/^[+-]/.test(text) ? line[0] + line.slice(1).trim() : line.slice(1).trim()).startsWith(text);
  const parts = bare(pick(difference(...steps.split(' ')), where, begins), where);
  const depth = Math.min(...parts.flat().filter((line) => line.slice(1).trim()).map((line) => indent(line.slice(1))));
  const cut = (line) => (line[0] + line.slice(1 + depth)).trimEnd();
  return ['```diff', parts.map((part) => part.map(cut).join('\n')).join('\n ...\n'), '```'].join('\n');
}

// --- tables ---

function table(heads, rows, right) {
  const rule = heads.map((_, i) => (i && right ? '---:' : '---'));
  return [heads, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

// "kernel", "kernel@h200" for the counters of a GPU, each with ="heading" or without.
function column(text, build) {
  const [, kernel, gpu, heading] = text.match(/^(\w+)(@h200)?(?:="([^"]*)")?$/) ?? fail(`what is ${text}?`);
  return { heading: heading ?? kernel + (gpu ? ', H200' : ''),
    value: (short) => (gpu ? measured(kernel, short) : simulated(build, kernel, short)) };
}

const tables = {
  counters(args, build) {
    const [kernels, shorts] = args.split(' : ');
    const columns = kernels.match(/[^\s"]+(?:"[^"]*")?/g).map((text) => column(text, build));
    const rows = shorts.split(' ').map((short) => [metric(short).label, ...columns.map((c) => grouped(c.value(short)))]);
    return table(['at 256 x 256 x 256', ...columns.map((c) => c.heading)], rows, true);
  },
  metrics(args) {
    return table(['in the decks', 'in Nsight Compute'], args.split(' ').map((s) => [metric(s).label, `\`${metric(s).name}\``]));
  },
  times(args) {
    const [step, ...sizes] = args.split(' ');
    const rows = sizes.map((size) => {
      const r = result(step, size);
      return [size, time(r.ms), rate(r.tflops), rate(r.baseline_tflops), share(r)];
    });
    return table(['size', 'time', 'TFLOP/s', 'cuBLAS', 'of cuBLAS'], rows, true);
  },
  steps(args) {
    const [size, ...steps] = args.split(' ');
    const rows = steps.map((step, i) => {
      const r = result(step, size), before = i && result(steps[i - 1], size);
      const gain = before && before.type === r.type ? `x ${(before.ms / r.ms).toFixed(2)}` : '-';
      return [step, time(r.ms), rate(r.tflops), gain, share(r)];
    });
    return table([`at ${size}`, 'time', 'TFLOP/s', 'row above', 'of cuBLAS'], rows, true);
  },
};

// --- single values: <span data-value="what ...">shown</span> ---

const values = {
  tflops: ([step, size]) => rate(result(step, size).tflops),
  cublas: ([step, size]) => rate(result(step, size).baseline_tflops),
  time: ([step, size]) => time(result(step, size).ms),
  share: ([step, size]) => share(result(step, size)),
  gain: ([before, step, size]) => (result(before, size).ms / result(step, size).ms).toFixed(2),
  device: ([step, size]) => result(step, size).device,
  date: ([step, size]) => result(step, size).date,
  count: ([kernel, short], build) => grouped(simulated(build, kernel, short)),
  per_fma: ([kernel, short], build) =>  // for each multiply-add of a warp
    (simulated(build, kernel, short) / (SIZE ** 3 / 32)).toFixed(2),
  calc: ([kernel, ...formula]) => {
    const x = calculate(kernel, formula.join(' '));
    return Number.isInteger(x) ? grouped(x) : String(Number(x.toPrecision(4)));
  },
  lines: ([a, b]) => {
    const changed = difference(a, b);
    const n = (sign) => changed.filter((line) => line[0] === sign).length;
    return `${n('+')} lines come, ${n('-')} go`;
  },
  // The number before a word of a picture's title: "ldmatrix: 32 wavefronts, ideal 4, 28 bank conflicts".
  picture: ([file, ...word]) => {
    const title = read(`slides/pictures/${file}`).match(/<title>(.*)<\/title>/)[1];
    if (word.join(' ') === 'bank conflict' && title.includes('no bank conflicts')) return '0';
    return title.match(new RegExp(`(\\d+) ${word.join(' ')}`))?.[1] ?? fail(`${file}: no number before ${word} in "${title}"`);
  },
};

function value(text, build) {
  const [what, ...args] = text.split(' ');
  return (values[what] ?? fail(`what is "${text}"?`))(args, build);
}

// --- a deck ---

const markers = {
  code: (text) => code(text.match(/^(\S+) (.*)$/s)?.slice(1) ?? fail(`what is "${text}"?`)),
  diff: (text) => diff(text.match(/^(\w+ \w+) (.*)$/s)?.slice(1) ?? fail(`what is "${text}"?`)),
  table: (text, build) => {
    const [what, ...args] = text.split(' ');
    return (tables[what] ?? fail(`there are no tables of ${what}`))(args.join(' '), build);
  },
};

// After its marker stands what was made last time: a fenced block, or the rows of a table.
const marked = /(<!-- (code|diff|table): (.*?) -->\n)(```[^]*?\n```(?=\n)|(?:\|[^\n]*(?=\n)\n?)*)/g;

export function refresh(text, build, complain) {
  const attempt = (make, old) => {
    try {
      return make();
    } catch (error) {
      complain(error.message);
      return old;
    }
  };
  return text
    .replace(marked, (all, marker, what, args, old) => {
      const made = attempt(() => markers[what](args, build), old.trimEnd());
      return marker + made + (old.startsWith('`') ? '' : '\n');
    })
    .replace(/<span data-value="([^"]*)">([^<]*)<\/span>/g,
      (all, what, old) => `<span data-value="${what}">${attempt(() => value(what, build), old)}</span>`);
}

// Numbers that look like results, and stand in the deck without a mark: nobody would notice when they are wrong.
const nouns = 'TFLOP/s|ms\\b|us\\b|%|times as|wavefronts|conflicts|sectors|requests|instructions|registers|lines come';
export function loose_numbers(text) {
  const bare = text.replace(marked, '').replace(/```[^]*?\n```/g, '').replace(/<span data-value[^]*?<\/span>/g, '');
  const found = bare.match(new RegExp(`\\b(\\d{2,}|\\d+\\.\\d+) (?:bank )?(?:${nouns})|\\b\\d{1,3}(,\\d{3})+\\b|\\bx \\d+\\.\\d+`, 'g'));
  return found ?? [];
}

const linked = /\]\(([^)#\s]+)[^)]*\)/g;

function links(text) {
  return [...text.replace(/```[^]*?\n```/g, '').matchAll(linked)].map((m) => m[1]).filter((url) => !/^[a-z]+:/i.test(url));
}

export function deck_names() {
  return readdirSync(slides).filter((name) => /^\d\d_\w+\.md$/.test(name)).sort();
}

// Pictures of this folder that a chapter shows.
function pictures_of_chapters() {
  const chapters = readdirSync(resolve(root, 'steps')).map((name) => `steps/${name}/NOTES.md`);
  return chapters.filter((path) => existsSync(resolve(root, path)))
    .flatMap((path) => links(read(path)).map((url) => relative(slides, resolve(root, dirname(path), url))))
    .filter((url) => url.startsWith('pictures/'));
}

// What the decks link to, and the pictures that no deck and no chapter shows.
function check_links() {
  const wrong = [], used = new Set();
  for (const name of deck_names()) {
    for (const url of links(readFileSync(join(slides, name), 'utf8'))) {
      used.add(url);
      if (!existsSync(resolve(slides, url))) wrong.push(`slides/${name}: ${url} is missing`);
    }
  }
  const listed = pictures().map(({ file }) => `pictures/${file}`);
  for (const url of pictures_of_chapters()) used.add(url);
  for (const file of listed) if (!used.has(file)) wrong.push(`slides/${file} is on no slide and in no chapter`);
  for (const url of used)
    if (url.startsWith('pictures/') && !listed.includes(url)) wrong.push(`slides/${url} is not in slides/pictures.txt`);
  for (const line of wrong) console.error(line);
  return wrong.length ? 1 : 0;
}

function bring_up_to_date(build, check) {
  const stale = [], wrong = [];
  const bring = (path, made, old) => {
    if (made === old) return;
    const [was, is] = [old ?? '', made].map((text) => text.split('\n'));
    const at = is.findIndex((line, i) => line !== was[i]);
    stale.push({ path: relative(root, path), line: at < 0 ? is.length : at + 1, was: was[at] ?? '', is: is[at] ?? '' });
    if (check) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, made);
  };
  for (const picture of pictures()) {
    const path = join(slides, 'pictures', picture.file);
    try {
      bring(path, draw(build, picture), existsSync(path) ? readFileSync(path, 'utf8') : undefined);
    } catch (error) {
      wrong.push(error.message);
    }
  }
  for (const name of deck_names()) {
    const path = join(slides, name), old = readFileSync(path, 'utf8');
    const made = refresh(old, build, (message) => wrong.push(`slides/${name}: ${message}`));
    bring(path, made, old);
    for (const number of loose_numbers(made)) wrong.push(`slides/${name}: "${number}" comes from nowhere; see slides/README.md`);
  }
  for (const line of wrong) console.error(line);
  for (const { path, line, was, is } of stale) {
    if (check) console.error(`${path}:${line} is stale; node slides/refresh.mjs mends it\n  is:        ${was}\n  should be: ${is}`);
    else console.log(`${path} is new`);
  }
  return wrong.length ? 2 : check && stale.length ? 1 : 0;
}

function main() {
  const args = process.argv.slice(2), usage = 'usage: node slides/refresh.mjs [--build DIR] [--check | --links]';
  const at = args.indexOf('--build');
  const build = at < 0 ? join(root, 'build') : args.splice(at, 2)[1];
  if (!build || args.length > 1 || (args.length && !['--check', '--links'].includes(args[0]))) {
    console.error(usage);
    return 2;
  }
  return args[0] === '--links' ? check_links() : bring_up_to_date(resolve(build), args[0] === '--check');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
