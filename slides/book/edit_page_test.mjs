// What is edited in a browser, for book_test.mjs: a kernel in its lab, an exercise, the bench. Each is compiled and run in the page,
// errors stand at their lines, a link carries a text, what was written is remembered, and without network it goes on.
import { pale, too_wide } from './inspect.mjs';

const text = (page, selector) => page.$eval(selector, (element) => element.textContent.replace(/\s+/g, ' ').trim()).catch(() => '');
const press = (page, name) => page.evaluate((word) => [...document.querySelectorAll('.vp-doc button')].find((b) => b.textContent.includes(word)).click(), name);

async function open(page, address) {
  await page.goto(address, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__, { polling: 50 });
}

// Behind a press: until nothing runs any more.
async function done(page) {
  await new Promise((ready) => setTimeout(ready, 100));
  await page.waitForFunction(() => [...document.querySelectorAll('.vp-doc button')].find((b) => b.textContent === 'Stop')?.disabled, { polling: 50 });
}

// By keys: the text of the editor is another.
async function write(page, change) {
  await page.waitForSelector('.cm-content');
  await page.evaluate((source) => {
    const { view } = document.querySelector('.cm-content').cmTile, now = view.state.doc.toString();
    view.dispatch({ changes: { from: 0, to: now.length, insert: source.reduce((all, [from, to]) => all.replace(from, to), now) } });
  }, change);
}

async function looks(page, name, wrong) {
  await page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' });
  for (const width of [1280, 390]) {
    await page.setViewport({ width, height: 900 });
    for (const found of await page.evaluate(too_wide)) wrong.push(`${name}, at ${width}: ${found}`);
    for (const dark of [true, false]) for (const found of await page.evaluate(pale, dark)) wrong.push(`${name}, at ${width}: ${found}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
}

async function in_the_lab(page, origin, expect, wrong) {
  await open(page, `${origin}/chapters/01_naive.html`);
  await press(page, 'Open the lab');
  await done(page);
  await page.waitForSelector('.lab .result');
  await press(page, 'Edit the kernel');
  await write(page, [['blockIdx.y', 'blockIdx.z']]);
  await press(page, 'run this');
  await done(page);
  expect('a wrong kernel', await text(page, '.lab .verdict'), /^C is wrong/);
  expect('what is different', await text(page, '.lab .result'), /kernel\.cu:\d+ has `blockIdx\.z` where the course has `blockIdx\.y`/);
  await page.waitForFunction(() => document.querySelector('.lab .result').textContent.includes('Predicted time'), { polling: 50 });
  // A book whose build predicted no times (slides/meson.build) knows of none that is near.
  expect('its time', (await text(page, '.lab .result')).replace(/^.*(?=Predicted time)/, ''),
    /^Predicted time: not here\. The clock needs .* ptxas runs on no page\.( The nearest kernel .*, of which 1 line differs: | Nor is there one of a kernel near it: this book was built without)/);
  await write(page, [['blockIdx.z', 'blockIdz.y']]);
  await page.focus('.cm-content');
  for (const key of ['Control', 'Enter']) await page.keyboard.down(key);
  for (const key of ['Enter', 'Control']) await page.keyboard.up(key);
  await done(page);
  expect('an error', await text(page, '.lab .errors'), /^line \d+ use of undeclared identifier 'blockIdz'/);
  expect('its line', String(await page.$$eval('.cm-lint-marker-error', (all) => all.length)), /^1$/);
  await looks(page, 'an error in the lab', wrong);
  await press(page, 'Copy link');
  await page.waitForFunction(() => document.querySelector('.edit .view-link').textContent.match(/Copied|does not let/), { polling: 50 });
  await open(page, `${origin}/chapters/01_naive.html`);
  await press(page, 'Open the lab');
  await done(page);
  await press(page, 'Edit the kernel');
  await page.waitForSelector('.cm-content');
  expect('what was written before', await text(page, '.edit'), /blockIdz/);
}

// Without network: the compiler is on this machine by now.
async function at_an_exercise(page, origin, expect, wrong) {
  await open(page, `${origin}/exercises/01_coalescing.html`);
  await press(page, 'Open the file');
  await page.waitForSelector('.cm-content');
  await page.waitForNetworkIdle();
  await write(page, [['tid % BM;', 'tid / BN;'], ['tid / BM;', 'tid % BN;']]);
  await press(page, 'heck');
  await done(page);
  expect('an exercise that is half done', await text(page, '.exercise'), /NO the result is right past every edge.*Not yet\. 66 of 100 points/);
  await page.setOfflineMode(true);
  await write(page, [['// <<<\n\n    // --- Acc', 'if (row >= M || col >= N) return;\n    // <<<\n\n    // --- Acc']]);
  await press(page, 'heck');
  await done(page);
  expect('an exercise that is done', await text(page, '.exercise'), /Done\. 100 of 100 points/);
  await page.setOfflineMode(false);
  await looks(page, 'an exercise', wrong);
  await open(page, `${origin}/exercises/index.html`);
  await page.waitForSelector('.edit .report');
  expect('the list', await text(page, '.edit'), /1 of \d+ done here, 100 of \d+ points/);
}

async function on_the_bench(page, origin, expect, wrong) {
  await open(page, `${origin}/bench.html`);
  await page.waitForSelector('.cm-content');
  await press(page, 'run this');
  await done(page);
  expect('arrays', await text(page, '.bench .arrays'), /y, f32\[1000\]: 1 3 5 7 9 11 13 15/);
  await page.evaluate(() => document.querySelector('.bench .number button').click());
  await page.waitForSelector('.bench .picture img');
  await looks(page, 'the bench', wrong);
}

// tab: of book_test.mjs. Returns what is wrong, in lines.
export async function editing(tab, origin) {
  const wrong = tab.wrong = [], expect = (what, is, wanted) => { if (!wanted.test(is)) wrong.push(`${what}: "${is.slice(0, 300)}"`); };
  await tab.page.setViewport({ width: 1280, height: 900 });
  for (const part of [in_the_lab, at_an_exercise, on_the_bench]) await part(tab.page, origin, expect, wrong);
  return wrong.map((line) => `edited: ${line}`);
}
