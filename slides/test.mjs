#!/usr/bin/env node
// The decks in a browser, each slide at 1280 x 720 in headless Chromium; inspect.mjs says what may be wrong with one.
// Skipped with exit 77 when a package or Chromium is missing.
//
//   node slides/test.mjs [--shots DIR] [DECK...]     DIR: also a PNG of each slide
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';
import { inspect } from './inspect.mjs';
import { deck_names } from './texts.mjs';
import { render } from './render.mjs';
import { slides } from './project.mjs';
import { sample } from './sample.mjs';
import { pictures } from './sources.mjs';
import { browse, missing, open_page } from './tools.mjs';

// A deck that has every fault: the test has to see them all, or it proves nothing.
const faulty = `---
marp: true
theme: gemm-steps
style: "section.pale { color: #9a9a9a } section.tiny pre { font-size: 12px }"
---

<!-- _class: pale -->
## Pale letters

Nobody reads this in the last row.

---

## Too long

${'A line of its own.\n\n'.repeat(20)}

---

## No picture

![nothing](data:image/png;base64,AAAA)

![far away](http://127.0.0.1:9/x.png)

---

<!-- _class: tiny -->

${'word '.repeat(90)}

\`\`\`cpp
int x;
\`\`\`
`;
const faults = ['has a contrast of', 'reaches', '"nothing" is missing', 'asked for http://127.0.0.1:9/x.png',
  'letters of 12 px', '90 words', 'no headline', 'no speaker notes', 'slides, not 8 to 15', 'no question', 'no exercise'];

async function look(browser, file, shots) {
  const wrong = [], name = basename(file, '.html');
  const page = await open_page(browser);
  await page.setViewport({ width: 1280, height: 720 });
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) wrong.push(`asked for ${request.url()}`);
  });
  page.on('pageerror', (error) => wrong.push(`script error: ${error.message}`));
  await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
  await page.addStyleTag({ content: '.bespoke-marp-osc { display: none !important }' });
  const n = await page.$$eval('svg[data-marpit-svg]', (all) => all.length);
  if (n < 8 || n > 15) wrong.push(`${n} slides, not 8 to 15`);
  const seen = [];
  for (let i = 0; i < n; i++) {
    await page.evaluate((hash) => { location.hash = hash; }, `#${i + 1}`);
    await page.waitForFunction((index) =>
      document.querySelectorAll('svg[data-marpit-svg]')[index].classList.contains('bespoke-marp-active'), {}, i);
    const slide = await page.evaluate(inspect, i);
    for (const text of slide.found) wrong.push(`slide ${i + 1}: ${text}`);
    seen.push(slide);
    if (shots) await page.screenshot({ path: join(shots, `${name}_${String(i + 1).padStart(2, '0')}.png`) });
  }
  const question = seen.findIndex(({ kind }) => kind === 'question');
  const count = (kind) => seen.filter((slide) => slide.kind === kind).length;
  if (count('question') !== 1 || count('answer') !== 1 || seen[question + 1]?.kind !== 'answer')
    wrong.push('no question with its answer on the next slide');
  const last = seen.at(-1);
  if (last.kind !== 'exercise' || !last.links.some((url) => /exercises\/\w+\/TASK\.md$/.test(url)))
    wrong.push('no exercise, with a link to its TASK.md, on the last slide');
  await page.close();
  return wrong.map((text) => `${name}: ${text}`);
}

// Letters that reach beyond their picture: they would be cut off on the slide.
async function look_at_picture(page, name) {
  await page.goto(pathToFileURL(join(slides, 'pictures', name)).href);
  const cut = await page.evaluate(() => {
    const { width, height } = document.documentElement.viewBox.baseVal;
    return [...document.querySelectorAll('text')].filter((text) => {
      const box = text.getBBox();
      return box.width && (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height);
    }).map((text) => text.textContent.slice(0, 60));
  });
  return cut.map((text) => `pictures/${name}: "${text}" is cut off`);
}

// On paper a deck has no icons that stand for its notes, which a text of its own has.
async function look_at_paper(folder, deck) {
  const source = join(folder, 'paper'), to = join(folder, 'printed'), name = deck.replace(/\.md$/, '');
  mkdirSync(source);
  copyFileSync(join(slides, deck), join(source, deck));
  await render(source, to, ['pdf', 'notes']);
  const pdf = readFileSync(join(to, `${name}.pdf`), 'latin1'), wrong = [];
  const streams = [...pdf.matchAll(/stream\r?\n([^]*?)\r?\nendstream/g)].map(([, bytes]) => inflated(Buffer.from(bytes, 'latin1')));
  const objects = [pdf, ...streams].join('\n');
  if (!/\/Type ?\/Page\b/.test(objects)) wrong.push('this test finds no page in the PDF');
  if (/\/Subtype ?\/Text\b/.test(objects)) wrong.push('the PDF has icons of notes');
  const [, note] = readFileSync(join(source, deck), 'utf8').match(/^<!--\n(.{20})/m);
  if (!readFileSync(join(to, `${name}.txt`), 'utf8').includes(note)) wrong.push('the text of the notes has none');
  return wrong.map((text) => `${name}: ${text}`);
}

// What a stream of a PDF holds; empty if it is packed in another way.
function inflated(bytes) {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}

async function test(decks, shots) {
  const folder = mkdtempSync(join(tmpdir(), 'slides-')), wrong = [];
  const browser = await browse();
  try {
    const source = join(folder, 'source'), to = join(folder, 'out');
    mkdirSync(source);
    for (const name of decks) copyFileSync(join(slides, name), join(source, name));
    writeFileSync(join(source, 'faulty.md'), faulty);
    await render(source, to, ['html']);
    for (const name of decks) wrong.push(...await look(browser, join(to, name.replace(/md$/, 'html')), shots));
    wrong.push(...await look_at_paper(folder, decks[0]));
    const page = await open_page(browser);
    for (const { file } of pictures()) wrong.push(...await look_at_picture(page, file));
    await page.close();
    const caught = await look(browser, join(to, 'faulty.html'));
    for (const fault of faults)
      if (!caught.some((text) => text.includes(fault))) wrong.push(`this test does not notice "${fault}"`);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
  for (const line of wrong) console.error(line);
  console.log(`${decks.length} decks looked at; ${wrong.length || 'nothing'} wrong`);
  return wrong.length ? 1 : 0;
}

async function main() {
  const args = process.argv.slice(2), at = args.indexOf('--shots');
  const shots = at < 0 ? null : resolve(args.splice(at, 2)[1]);
  const lacking = missing(false);
  if (lacking.length) {
    console.log(`skipped: ${lacking.join('; ')}`);
    return 77;
  }
  if (shots) mkdirSync(shots, { recursive: true });
  const named = args.map((name) => basename(name));
  for (const name of named) if (!existsSync(join(slides, name))) throw new Error(`there is no deck ${name}`);
  return test(named.length ? named : sample(deck_names(), 6), shots);
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`slides: ${error.message}`);
  process.exitCode = 1;
});
