// What is edited in a browser, for book_test.mjs: a kernel in its lab, an exercise, the bench. Each is compiled and run in the page,
// errors stand at their lines, a link carries a text, what was written is remembered, and without network it goes on.
import { pale, too_wide } from './inspect.mjs';
import { pack } from './theme/edit_link.js';

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

// The element is within the window, and within the editor's.
function in_sight(selector) {
  const [one, frame] = [selector, '.cm-scroller'].map((name) => document.querySelector(name)?.getBoundingClientRect());
  return one && one.top >= Math.max(0, frame.top) && one.bottom <= Math.min(innerHeight, frame.bottom);
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
  expect('what is different, unasked', `${await text(page, '.lab .result')} ${await page.$$eval('.lab :is(tr.gone, tr.fresh)', (all) => all.length)}`, /^(?!.*the course has).* 0$/);
  await page.setViewport({ width: 1280, height: 500 });
  await press(page, 'Compare with');
  await page.waitForFunction(in_sight, { polling: 50, timeout: 5000 }, '.cm-changedLine').catch(() => expect('the first difference', 'out of sight', /^in sight/));
  await page.setViewport({ width: 1280, height: 900 });
  expect('what is different', `${await text(page, '.lab .result')} ${await text(page, '.lab tr.gone')}`, /kernel\.cu:\d+ has `z` where the course has `y`.*was−.*blockIdx\.y/);
  await press(page, 'Show what was changed');
  expect('what is different, once more', await text(page, '.lab .result'), /^(?!.*the course has)/);
  expect('words of a counter', await text(page, '.lab .counters'), /sectors read l1tex__t_sectors_pipe_lsu_mem_global_op_ld\.sum/);
  expect('whose result', await text(page, '.lab .whose'), /^The result of the edited text:$/);
  expect('what changed most, of a wrong kernel', `${await text(page, '.lab .change')} ${await text(page, '.lab .moved')}`, /The kernel of this run is wrong, so the two runs are not compared\. $/);
  expect('the heads of its counters', await text(page, '.lab .source thead'), /^now, wrong *before *line/);
  expect('no time of a wrong kernel', await text(page, '.lab .result p.time'), /ptxas runs on no page\.$/);
  await write(page, [['blockIdx.z', '(blockIdx.y)']]);
  expect('whose result, behind a change', await text(page, '.lab .whose'), /^The result of the edited text as it ran last, and not as it is now:$/);
  await press(page, 'run this');
  await done(page);
  // A book whose build predicted no times (slides/meson.build) knows of none that is near.
  expect('its time', await text(page, '.lab .result p.time'),
    /ptxas runs on no page\.( [\d.]+ ms is the time of the course's kernel that is nearest to it, .* \(1 line differs\)| Nor is there one of a kernel near it: this book was built without)/);
  await write(page, [['(blockIdx.y)', 'blockIdz.y']]);
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
  expect('what was written before', await text(page, '.edit'), /This is what you wrote here before.*blockIdz/);
  await write(page, [['blockIdz', 'blockIdx']]);
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('compile_worker.js')), { polling: 50 })
    .catch(() => wrong.push('the compiler is not prepared while a text is written'));
  await write(page, [['blockIdx.y', 'blockIdz.y']]);
}

const written = (page) => page.evaluate(() => document.querySelector('.cm-content').cmTile.view.state.doc.toString());

// A link to a text, opened where the reader has written one of his own: it opens at the lab, has not run, and is beside his.
async function by_a_link(page, origin, expect) {
  const link = async (body) => `${origin}/chapters/01_naive.html${await pack({ text: body, m: 64, n: 64, k: 64 })}`;
  const there = (body) => page.waitForFunction((wanted) => document.querySelector('.cm-content')?.cmTile.view.state.doc.toString() === wanted, { polling: 50 }, body);
  await open(page, await link('// first'));
  await there('// first');
  await page.waitForSelector('.lab .result');
  await done(page);
  expect('where it opens', String(await page.$eval('.lab', (lab) => Math.round(lab.getBoundingClientRect().top))), /^\d\d$/);
  expect("the course's kernel beside a link's text", String(Boolean(await page.$('.lab .source'))), /^false$/);
  expect('the note of a link', await text(page, '.edit .hint'), /came with the link\. Nothing of it has run yet\. What you wrote here before is kept\.$/);
  expect('whose result, behind a link', await text(page, '.lab .whose'), /^The result of the course's kernel, not of the text in the editor:$/);
  expect('what was predicted, where nothing was asked', await text(page, '.lab .count'), /^(?!.* here: 0)/);
  expect('what runs', await text(page, '.lab form button.main'), /^Run the course's kernel$/);
  await press(page, "Run the course's");
  await done(page);
  expect("the course's kernel, asked for", String(Boolean(await page.$('.lab .source'))), /^true$/);
  await press(page, 'run this');
  await page.goto(await link('// second'));
  await there('// second');
  await done(page);
  expect('what ran when the link was opened', await text(page, '.lab .whose'), /^The result of the course's kernel, not of the text in the editor:$/);
  await write(page, [['second', 'changed']]);
  expect('the note behind a change', await text(page, '.edit .hint'), /^Ctrl-Enter/);
  await press(page, 'To another text of yours');
  expect('his own text', await written(page), /blockIdz/);
  await press(page, "To the link's text");
  await there('// second');
  await page.goto('about:blank');
  await open(page, await link('// third'));
  await there('// third');
  await page.waitForSelector('.lab .result');
  await done(page);
  await press(page, 'Back to your own text');
  await there('// changed');
}

// Without network: the compiler is on this machine by now.
async function at_an_exercise(page, origin, expect, wrong) {
  await open(page, `${origin}/exercises/01_coalescing.html`);
  await press(page, 'Open the file');
  await page.waitForSelector('.cm-content');
  await page.waitForNetworkIdle({ concurrency: 2 });  // a run that was ended leaves requests of which no end is told
  await write(page, [['tid % BM;', 'tid / BN;'], ['tid / BM;', 'tid % BN;']]);
  await press(page, 'heck');
  await done(page);
  expect('an exercise that is half done', await text(page, '.exercise'), /not yet: the result is right past every edge.*Not yet\. 66 of 100 points/);
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
  await write(page, [['a * x[i]', 'a * a * x[i]']]);
  expect('whose result on the bench, behind a change', await text(page, '.bench .whose'), /^The result of the text as it ran last:$/);
  await press(page, 'run this');
  await done(page);
  expect('whose result on the bench', await text(page, '.bench .whose'), /^The result of this text:$/);
  expect('beside the run before, on the bench', await text(page, '.bench .change'), /^In all [\d,]+ instructions of warps, (as many as|[\d,]+ (more|fewer) than) in the run before\.$/);
  expect('counters by line on the bench', String(await page.$$eval('.bench td.heat', (all) => all.filter((cell) => cell.textContent).length)), /^[1-9]/);
  await looks(page, 'the bench', wrong);
}

// tab: of book_test.mjs. Returns what is wrong, in lines.
export async function editing(tab, origin) {
  const wrong = tab.wrong = [], expect = (what, is, wanted) => { if (!wanted.test(is)) wrong.push(`${what}: "${is.slice(0, 300)}"`); };
  await tab.page.setViewport({ width: 1280, height: 900 });
  for (const part of [in_the_lab, by_a_link, at_an_exercise, on_the_bench]) await part(tab.page, origin, expect, wrong);
  return wrong.map((line) => `edited: ${line}`);
}
