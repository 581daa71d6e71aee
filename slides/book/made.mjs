// The pages that no text of the project is: the front page, what changed, the ladder on the card, the decks.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { read, root } from '../project.mjs';
import { card, rows_of, times, times_path } from '../results.mjs';
import { parts } from '../programs.mjs';
import { made_table } from '../tables.mjs';
import { answering_pages } from './answering.mjs';
import { compared } from './changes.mjs';
import { code_url, decks, kernel_of, neighbours, steps } from './pages.mjs';

const link = (text, to) => `[${text}](${to})`;
const lines = (n) => `${n} line${n === 1 ? '' : 's'}`;

// "01_naive" -> its idea, as the table of the steps has it.
function ideas() {
  const rows = read('steps/README.md').matchAll(/^\| \[(\w+)\]\(\w+\/NOTES\.md\) \| (.+) \|$/gm);
  return Object.fromEntries([...rows].map((m) => [m[1], m[2].replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')]));
}

// --- the front page ---

const simulated = 'steps/ladder.svg';

function front_page(chapters) {
  const idea = ideas(), first = chapters[0];
  const to = ({ url, title }) => link(title, `/${url}`);
  const rows = chapters.filter(({ step }) => idea[step]).map((page) => `| ${to(page)} | ${idea[page.step]} |`);
  const beyond = chapters.filter(({ step }) => !idea[step]).map(to);
  const text = `---
layout: home
title: gemm-steps
titleTemplate: a course in fast CUDA matrix multiply
hero:
  name: gemm-steps
  text: A fast matrix multiply, one idea at a time
  tagline: Each lesson adds one idea to a CUDA kernel. Everything runs on your GPU, or on a simulated one that counts, checks and draws.
  actions:
    - { theme: brand, text: Begin with ${JSON.stringify(first.title)}, link: /${first.url} }
    - { theme: alt, text: Install and run, link: /start }
    - { theme: alt, text: The ladder on a GPU, link: /ladder }
---

<div class="vp-doc front">

## The ladder

![Every step on the simulated GPU: whether it is right, and what it costs](/files/${simulated})

On a card, [what each idea is worth](/worth) takes every step apart, and [the ladder](/ladder) has all times.

## The lessons

| lesson | the one new idea |
|---|---|
${rows.join('\n')}

And beyond the steps: ${beyond.join('; ')}.

[What changed](/changes/) has each kernel beside the one before. [The exercises](/exercises/) are kernels with a few lines
missing, and each page has the file to edit. [The decks](/decks/) are for teaching.

</div>
`;
  return { url: 'index', title: 'gemm-steps', pictures: [simulated], text: () => text };
}

// --- what changed ---

async function change_page({ before, step }, chapter, coloured) {
  const url = `changes/${step}`;
  const heads = [before, step].map((name) => `<a href="../${code_url(kernel_of(name))}.html">${name}</a>`);
  const { html, come, go } = await compared(...[before, step].map((name) => resolve(root, kernel_of(name))), heads, coloured(url));
  const text = `---
pageClass: wide
aside: false
sidebar: false
search: false
---

# What changed: ${step.slice(0, 2)} beside ${before.slice(0, 2)}

${lines(come)} come, ${lines(go)} go. ${chapter ? `${link('The lesson', `/${chapter.url}`)} says why. ` : ''}The same in a terminal:

\`\`\`sh
build/course diff ${Number(step.slice(0, 2))}
\`\`\`

${html}
`;
  return { url, step, before, come, go, title: `${step.slice(0, 2)} beside ${before.slice(0, 2)}`, text: () => text };
}

function changes_page(changes) {
  const rows = changes.map(({ url, before, step, come, go }) => `| ${link(step, `/${url}`)} | ${before} | ${come} | ${go} |`);
  const text = `# What changed

Each kernel beside the one before, line by line. Words that changed within a line are marked.

| kernel | beside | lines come | lines go |
|---|---|---:|---:|
${rows.join('\n')}
`;
  return { url: 'changes/index', title: 'What changed', text: () => text };
}

// --- the ladder on the card ---

const anchor = (size) => `at-${size}`;

function ladder_page(chapters, build) {
  const path = times_path(), picture = path.replace(/csv$/, 'svg'), { sms, ghz } = card(build), rows = rows_of(build, path);
  const [{ date, device }] = rows, sizes = [...new Set(rows.map(({ m }) => m))];
  const urls = Object.fromEntries(chapters.filter(({ step }) => step).map(({ step, url }) => [step, url]));
  const table = (size) => {
    const names = times(build, size).map(({ step }) => step);
    return made_table(`steps ${size} ${names.join(' ')}`, build).replace(/^\| (\w+) /gm, (all, name) =>
      (urls[name] ? `| ${link(name, `/${urls[name]}`)} ` : all));
  };
  const ordered = sizes.sort((a, b) => (b === '4096') - (a === '4096') || a - b);
  const text = `---
pageClass: code
aside: false
---

# The ladder on an H200

Each step on an ${device} (${sms} SMs, up to ${ghz} GHz), ${date}. A time is the median of several runs, with the L2
cache emptied before each. "Row above" is how many times as fast a step is as the nearest row above it that multiplies the
same type. ${link('Results', '/results')} says how the tables were made.

${existsSync(resolve(root, picture)) ? `![The ladder on an H200: TFLOP/s of every step beside cuBLAS, and a roofline](/files/${picture})` : ''}

${ordered.map((size) => `## ${size} x ${size} x ${size} {#${anchor(size)}}\n\n${table(size)}`).join('\n\n')}
`;
  return { url: 'ladder', title: 'The ladder on an H200', pictures: [picture], text: () => text };
}

// --- what each idea is worth ---

const waterfall = 'slides/pictures/00_worth.svg';

function worth_page(chapters, build) {
  const lessons = Object.fromEntries(chapters.map(({ step, url }) => [step, url])), SIZE = 4096;
  const taken_apart = parts(build, SIZE).filter(({ factor }) => factor);
  const named = (step) => (lessons[step] ? link(step, `/${lessons[step]}`) : step);
  const section = ({ step, factor, parts: all }) => (all.length ?
    `## ${step} {#${step}}\n\n${lessons[step] ? `${link('The lesson', `/${lessons[step]}`)}. ` : ''}The kernels: \`build/worth ${Number(step.slice(0, 2))}\`.\n\n` +
    made_table(`parts ${step} ${SIZE}`, build) : `## ${step} {#${step}}\n\n${named(step)} as a whole: x ${factor.toFixed(2)}; it was not taken apart.`);
  const text = `---
pageClass: code
aside: false
---

# What each idea is worth

Most steps change more than one thing. So each was taken apart: its parts were put into the kernel before it one by one, left
out of its own kernel one by one, and all these kernels were timed on the card in turn. The picture adds it up.

![Each step as a bar from the speed of the step before to its own, in parts](/files/${waterfall})

- A row is a step, and begins where the row above ends. **The same length is the same factor.**
- A colour is a part of the step, the largest first. **Below the bar** stands what is lost again.
- **Grey** is the rest: what the parts do not multiply to. Where each part has a kernel of its own it is their
  *interaction*: one part is worth more, or less, where another is there. Where something of the step has none, it is
  *unexplained*.
- **Nothing alone** is said of a step that gains less than 1 %: it is there for the steps that build on it.

A **share** is the geometric mean of what a part brings in pairs of timed kernels that differ in it alone: first the mean of
the pairs in which as many other parts are there, then the mean of these. If all sets of parts were timed, it is the part's
Shapley value, and the shares multiply to the whole. Two of the pairs are in the tables: the part *alone*, in the step before,
and *left out* of the step. Where they differ much, another part
does the same work, or is needed for it. Kernels that spill registers are not counted, and a share below 1 % is about what two
runs differ by. In a terminal, \`build/worth\` draws the same, and \`build/worth 16\` lists the kernels of step 16.

${taken_apart.map(section).join('\n\n')}
`;
  return { url: 'worth', title: 'What each idea is worth', pictures: [waterfall], places: taken_apart.map(({ step }) => step), text: () => text };
}

// --- the decks ---

// rendered: the folder that meson compile -C build slides left.
function decks_page(rendered) {
  const of_all = ({ name }) => name === '00_overview', all = decks().sort((a, b) => of_all(b) - of_all(a)), built = (name) => existsSync(resolve(rendered, `${name}.html`));
  const rows = all.map(({ name, title }) => (built(name) ? `- <a href="./${name}.html" target="_blank">${title}</a>` : `- ${title}`));
  const hint = all.every(({ name }) => built(name)) ? '' :
    '\nThose without a link are not rendered yet: `meson compile -C build slides`, then `meson compile -C build book`.\n';
  const text = `# The decks

To teach the course: a deck for each chapter, with speaker notes, a question for the room, and an exercise at the end.
Arrow keys turn the slides; \`p\` opens the notes.

${rows.join('\n')}
${hint}
${link('How a deck is changed, and where its numbers come from', '/decks/making')}
`;
  return { url: 'decks/index', title: 'The decks', text: () => text };
}

// --- all ---

// build: the folder of the build; rendered: that of the decks; answers: is there an answers.wasm?
export async function made_pages(pages, { build, rendered, answers, coloured }) {
  const chapters = pages.filter(({ url }) => url.startsWith('chapters/') && !url.endsWith('/glossary'))
    .map((page) => ({ ...page, step: page.url.slice('chapters/'.length) }));
  const changes = [];
  for (const pair of neighbours()) changes.push(await change_page(pair, chapters.find(({ step }) => step === pair.step), coloured));
  const names = steps();
  if (!names.length) throw new Error('there are no steps');
  return [front_page(chapters), changes_page(changes), ...changes, ladder_page(chapters, build), worth_page(chapters, build), decks_page(rendered),
    ...(answers ? answering_pages(build) : [])];
}
