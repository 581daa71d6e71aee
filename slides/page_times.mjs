#!/usr/bin/env node
// How long a learner waits in the book's labs, in milliseconds, as CSV: a step's first checked result from the address on, in a
// browser that has nothing of the book; the same kernel checked at 128 and at 256 cubed; an edited text from Run to its
// result, the compiler fetched with it and then there. The book is BUILD/book (node slides/book/make.mjs). A quiet machine is
// asked for.
//
//   node slides/page_times.mjs BUILD [STEP...]
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { serve } from './book/serve.mjs';
import { fail, root } from './project.mjs';
import { browse, open_page } from './tools.mjs';

const columns = ['first', 'checked_128', 'checked_256', 'edit_first', 'edit_again'];

// Presses the button that begins with the word, until the run that it starts has ended: its verdict has to have the words.
async function press(page, word, wanted) {
  const [ms, verdict] = await page.evaluate(async (name) => {
    const buttons = () => [...document.querySelectorAll('.vp-doc button')], stop = () => buttons().find((b) => b.textContent === 'Stop');
    const until = async (is) => { while (!is()) await new Promise((ready) => setTimeout(ready, 1)); };
    const begun = performance.now();
    buttons().find((b) => b.textContent.trim().startsWith(name)).click();
    await until(() => !stop().disabled);
    await until(() => stop().disabled);
    return [performance.now() - begun, document.querySelector('.lab .verdict')?.textContent ?? ''];
  }, word);
  if (!verdict.includes(wanted)) fail(`${word}: the verdict is "${verdict}", without "${wanted}"`);
  return ms;
}

const set_size = (page, size) => page.$$eval('.lab input[type=number]', (inputs, value) => inputs.slice(0, 3).forEach((input) => {
  input.value = value;
  input.dispatchEvent(new Event('input'));
}), size);

async function edited(page, change) {
  await page.waitForSelector('.cm-content');
  await page.evaluate((line) => {
    const { view } = document.querySelector('.cm-content').cmTile;
    view.dispatch({ changes: { from: 0, insert: line } });
  }, change);
  const word = await page.$eval('.edit button.main', (button) => button.textContent.trim());
  return press(page, word, 'C is right');
}

async function times(browser, origin, step) {
  const context = await browser.createBrowserContext(), page = await open_page(context);
  await page.goto(`${origin}/chapters/${step}.html?lab=itself`, { waitUntil: 'domcontentloaded' });
  const first = await page.waitForFunction(() => document.querySelector('.lab .verdict') && performance.now(), { polling: 5 });
  const found = [await first.jsonValue()];
  for (const size of [128, 256]) {
    await set_size(page, size);
    found.push(await press(page, 'Run', `${size} x ${size} x ${size}`));
  }
  await set_size(page, 128);
  await page.evaluate(() => [...document.querySelectorAll('.vp-doc button')].find((b) => b.textContent.includes('Edit the kernel')).click());
  for (const change of ['// a line\n', '// one more\n']) found.push(await edited(page, change));
  await context.close();
  return found;
}

const [build, ...only] = process.argv.slice(2);
if (!build) fail('usage: node slides/page_times.mjs BUILD [STEP...]');
const browser = await browse(), server = await serve(join(resolve(build), 'book'));
console.log(['step', ...columns].join());
for (const step of only.length ? only : readdirSync(join(root, 'steps')).filter((name) => /^(0[1-9]|[12]\d)_/.test(name)))
  console.log([step, ...(await times(browser, `http://127.0.0.1:${server.address().port}`, step)).map(Math.round)].join());
await browser.close();
server.close();
