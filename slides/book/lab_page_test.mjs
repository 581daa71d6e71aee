// The labs in a browser, for book_test.mjs: an experiment is predicted, run and shown; what was predicted is remembered; by
// keys alone; without network once a lab is loaded; Stop; links into a lab; nothing is too wide, pale or without words.
import { gzipSync } from 'node:zlib';
import { pale, too_wide } from './inspect.mjs';
import { sample } from '../sample.mjs';

const MOST_BYTES = 350_000;  // compressed, that a chapter loads to the first result of its lab, without pictures and kernels

const chapter = (step, query = '') => `chapters/${step}.html${query}`;
const idle = (page) => page.waitForFunction(() => document.querySelector('.lab .result') && !document.querySelector('.lab .told')?.textContent &&
  [...document.querySelectorAll('.lab button')].find((b) => b.textContent === 'Stop')?.disabled, { polling: 50 });
const text = (page, selector) => page.$eval(selector, (element) => element.textContent.replace(/\s+/g, ' ').trim()).catch(() => '');

async function open(tab, origin, url) {
  await tab.page.goto(`${origin}/${url}`, { waitUntil: 'load' });
  await tab.page.waitForFunction(() => document.querySelector('#app')?.__vue_app__, { polling: 50 });
  await tab.page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' });
}

// What is predicted, what the lab says then, and a line at which it must have found something.
const experiments = [
  ['02_smem_tile', '02_no_second', 'found', 'C is wrong, and the checks find something', 'As you predicted', 'race'],
  ['12_mma_swizzle', '12_one_side', 'right', 'C is wrong, though the checks of accesses and barriers find nothing', 'Not as you predicted', null],
  ['16_warp_roles', '16_early', 'race', 'C is right, but the checks find something', 'As you predicted', 'race'],
  ['16_warp_roles', '16_parity', 'stuck', 'It does not come to its end', 'As you predicted', 'endless'],
];

const chosen_words = (page) => page.$eval('.lab select', (select) => select.selectedOptions[0].textContent);

const watch_button = () => [...document.querySelectorAll('.lab .watch button')].find((b) => /^Watch a/.test(b.textContent));

// A click on the last finding: two accesses that meet are shown in the order of time, with what lies between, and the watch opens
// there; of another the access is drawn, its warp and execution, or, where a picture cannot show it, the watch opens by itself. It
// opens there, or where that ended the block, with why; and its buttons name what was found.
async function watch_found(page, expect) {
  const found = await page.$$eval('.lab .found button', (all) => all.at(-1).textContent.replace(/\s+/g, ' ').trim());
  await page.$$eval('.lab .found button', (all) => all.at(-1).click());
  await page.waitForSelector('.lab :is(.picture img, .watch .step)');
  await page.waitForFunction(`!(${watch_button})().disabled`, { polling: 50 });
  const picture = await page.$eval('.lab .picture img', ({ alt }) => alt.match(/warp (\d+), (.*)/)).catch(() => null);
  expect('draws an access and opens the watch, or does neither', Boolean(picture) !== Boolean(await page.$('.lab .watch .step')));
  const ends = await page.$$eval('.lab .race li:not(.between)', (all) => all.map((end) => end.textContent.replace(/\s+/g, ' ').trim()));
  expect(`shows ${ends} of a race, and the picture of ${picture}`, found.startsWith('race') === (ends.length === 2) && (!ends.length || !picture));
  expect(`shows the two ends as ${ends}`, !ends.length || (/^first (a [a-z ]+ of )?warp \d+, lane \d+ \(thread \d+, block \d+\) (reads|writes) it, line \d+: \S/.test(ends[0]) && /^then (a [a-z ]+ of )?warp/.test(ends[1])));
  expect('says nothing of what lies between them', !ends.length || /^between them warp \d+ comes to (no barrier and no wait|line \d+)/.test(await text(page, '.lab .race .between')));
  if (picture) await page.evaluate(`(${watch_button})().click()`);
  await page.waitForSelector('.lab .watch .step');
  const kind = found.split(', ')[0], step = await text(page, '.lab .watch .step'), [, warp, line] = step.match(/^Warp (\d+), step [\d,]+, line (\d+): /) ?? [];
  const named = await page.$$eval('.lab .watch .views button', (all) => all.map((b) => b.textContent.replace(/\s+/g, ' ').trim()));
  expect(`draws ${picture}, and the watch is at "${step}"`, !picture || picture[1] === warp);
  expect(`opens the watch at "${step}", not at ${found}, of ${named}`, kind === 'endless'
    ? await page.$('.lab .why') && named.some((name) => name.startsWith(`${kind}: warp `)) : named.includes(`${kind}: warp ${warp}, line ${line}`));
}

async function experiment(tab, origin, [step, name, guess, verdict, word, finding]) {
  const { page } = tab, wrong = [], expect = (what, is) => { if (!is) wrong.push(`${step} ${name}: ${what}`); };
  await open(tab, origin, chapter(step, `?lab=${name}`));
  await idle(page);
  expect('shows the variant before it is predicted', (await text(page, '.lab .verdict')).startsWith('C is right, and the checks find nothing'));
  await page.click(`.lab .ask input[value=${guess}]`);
  await page.click('.lab .ask button.main');
  await page.waitForSelector('.lab .ask b:is(.good, .bad)');
  await idle(page);
  expect(`says ${await text(page, '.lab .verdict')}`, (await text(page, '.lab .verdict')).startsWith(verdict));
  expect(`says ${await text(page, '.lab .ask')}`, (await text(page, '.lab .ask')).includes(word));
  expect('shows no finding at a line', !finding === !(await text(page, '.lab tr.finding')).includes(finding ?? 'times'));
  expect('shows no line that was changed', await page.$('.lab tr.fresh'));
  expect('shows no map', !verdict.startsWith('C is wrong') || await page.$('.lab canvas[aria-label^="Map of C"]'));
  expect('does not say whose result it is', (await text(page, '.lab .whose')) === `The result of the variant “${await chosen_words(page)}”:`);
  expect(`says of the change "${await text(page, '.lab .change')}"`, verdict.startsWith('It does not') ||
    (verdict.startsWith('C is right, and the checks find nothing') ? /^In all [\d,]+ [\w: ]+, ([\d,]+ (more|fewer) than|as many as) in the run before, of the course's kernel\.$/
      : /^In all [\d,]+ [\w: ]+\. The kernel of this run is wrong, so the two runs are not compared\.$/).test(await text(page, '.lab .change')));
  if (finding && await page.$('.lab .found button')) await watch_found(page, expect);
  await page.reload({ waitUntil: 'load' });
  await idle(page);
  expect('does not remember what was predicted', (await text(page, '.lab .ask')).includes(word));
  await page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' });
  for (const width of [1280, 768, 390, 360]) {
    await page.setViewport({ width, height: 900 });
    for (const found of await page.evaluate(too_wide)) wrong.push(`${step} ${name}, at ${width}: ${found}`);
    for (const dark of [true, false]) for (const found of await page.evaluate(pale, dark)) wrong.push(`${step} ${name}: ${found}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
  return wrong;
}

// By keys alone, and without network: the lab is opened, and then its other kernels are there.
async function by_keys(tab, origin) {
  const { page } = tab, wrong = [], here = () => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
  const tab_to = async (what, most = 30) => {
    for (let i = 0; i < most && !(await what()); i++) await page.keyboard.press('Tab');
    if (!await what()) wrong.push(`keys: nothing more to reach behind "${await here()}"`);
  };
  await open(tab, origin, chapter('02_smem_tile'));
  await page.focus('.lab button');
  await page.keyboard.press('Enter');
  await idle(page);
  await page.waitForFunction(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('02_rolled.ptx')), { polling: 50 });
  await page.waitForNetworkIdle();
  await page.setOfflineMode(true);
  await page.focus('.lab select');
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('.lab fieldset');
  await idle(page);
  await tab_to(() => page.evaluate(() => document.activeElement.type === 'radio'));
  await page.keyboard.press(' ');
  await tab_to(async () => (await here()) === 'Run it');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.lab .ask b:is(.good, .bad)');
  await idle(page);
  await tab_to(() => page.evaluate(() => document.activeElement.matches('.lab .number button')), 60);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.lab .picture img');
  const { alt, width } = await page.$eval('.lab .picture img', async (img) => { await img.decode(); return { alt: img.alt, width: img.naturalWidth }; });
  if (!/wavefront|sector/.test(alt) || !/first execution/.test(alt) || /--/.test(alt) || !width) wrong.push(`keys: the picture of a line says "${alt}"`);
  await page.setOfflineMode(false);
  return wrong;
}

// What a chapter has asked for when its lab shows its first result. The next pages, which VitePress asks for already, and the
// rest of the module are loaded for what comes later.
async function first_result(tab, origin) {
  const { page } = tab, asked = new Set(), note = (request) => asked.add(request.url());
  page.on('request', note);
  await page.setCacheEnabled(false);
  await open(tab, origin, chapter('02_smem_tile', '?lab=itself'));
  await page.waitForSelector('.lab .result');
  page.off('request', note);
  await page.setCacheEnabled(true);
  // What is linked and fetched ahead, while the page is idle, is not counted: how much of it comes before the result is chance.
  const files = [...asked].filter((url) => /chapters.02_smem_tile|\/chunks\/|app\.|\.css|\/labs\/lab/.test(url) && !/^data:|\.(svg|png|woff2|cu\.gz|ptx\.gz)|lab_rest/.test(url));
  const bytes = await Promise.all(files.map(async (url) => gzipSync(await (await fetch(url)).arrayBuffer(), { level: 9 }).length)), all = bytes.reduce((sum, n) => sum + n, 0);
  console.log(`a chapter and the first result of its lab: ${files.length} files of ${all} bytes by gzip`);
  return all < MOST_BYTES && ['lab.wasm', 'lab_worker', 'LabPanel'].every((name) => files.some((url) => url.includes(name))) ? [] : [`a chapter loads ${all} bytes to the first result of its lab, and may load ${MOST_BYTES}: ${files.join(' ')}`];
}

// The warp that was found, watched: forwards, and back to where it was.
async function watching(tab, origin) {
  const { page } = tab, step = () => text(page, '.lab .watch .step'), press = async (name) => {
    const before = await step();
    await page.evaluate((word) => [...document.querySelectorAll('.lab .watch button')].find((b) => b.textContent.includes(word)).click(), name);
    await page.waitForFunction((old) => document.querySelector('.lab .watch .step') && document.querySelector('.lab .watch .step').textContent.replace(/\s+/g, ' ').trim() !== old,
      { polling: 20 }, before);
    return step();
  };
  await open(tab, origin, chapter('00_machine', '?lab=sectors'));
  await idle(page);
  const first = await press('Watch a warp'), second = await press('step ▶'), again = await press('◀ step');
  const wrong = first === again && second !== first ? [] : [`watched: "${first}", "${second}", back "${again}"`];
  for (const found of await page.evaluate(pale, false)) wrong.push(`watched: ${found}`);
  return wrong;
}

const press = (page, name) => page.evaluate((word) => {
  [...document.querySelectorAll('.lab .watch button')].find((b) => b.textContent.includes(word)).click();
}, name);

// A hang opens where it ended, with why; and the registers of an mma are the matrices that they are.
async function watched_matrices_and_why(tab, origin) {
  const { page } = tab, wrong = [];
  await open(tab, origin, chapter('16_warp_roles', '?lab=16_parity'));
  await page.waitForFunction(() => document.querySelector('.lab .ask b:is(.good, .bad)') || document.querySelector('.lab fieldset'), { polling: 50 });
  await idle(page);
  if (await page.$('.lab fieldset')) {
    await page.click('.lab .ask input[value=stuck]');
    await page.click('.lab .ask button.main');
    await page.waitForSelector('.lab .ask b:is(.good, .bad)');
    await idle(page);
  }
  await press(page, 'Watch a warp');
  await page.waitForSelector('.lab .why');
  const why = await text(page, '.lab .why');
  for (const part of ['warps 0 to 7 wait for full[0], phase 0', 'nobody has come to empty[0] yet', 'wait for each other'])
    if (!why.includes(part)) wrong.push(`watched: why says "${why}", not "${part}"`);
  await open(tab, origin, chapter('11_mma_ptx', '?lab=itself'));
  await idle(page);
  await press(page, 'Watch a warp');
  await page.waitForSelector('.lab .watch .step');
  const line = await page.$$eval('.lab .source td.code', (cells) => cells.findIndex((cell) => /^\s*mma\(/.test(cell.textContent)) + 1);
  await page.$eval('.lab .watch [role=group] input', (input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }, line);
  await press(page, 'to it ▶');
  await page.waitForSelector('.lab .matrix');
  const names = await page.$$eval('.lab .matrix h3', (all) => all.map((one) => one.textContent.replace(/\s+/g, ' ').slice(0, 11)));
  if (names.join() !== 'D 16 x 8, f,A 16 x 16, ,B 16 x 8, f,C 16 x 8, f') wrong.push(`watched: the matrices are ${names.join()}`);
  for (const width of [1280, 390, 360]) {
    await page.setViewport({ width, height: 900 });
    for (const found of await page.evaluate(too_wide)) wrong.push(`watched, at ${width}: ${found}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
  for (const dark of [true, false]) for (const found of await page.evaluate(pale, dark)) wrong.push(`watched: ${found}`);
  return wrong;
}

// A run of some seconds ends by Stop, and the lab goes on.
async function stop(tab, origin) {
  const { page } = tab, wrong = [], button = (name) => page.evaluateHandle((word) => [...document.querySelectorAll('.lab button')].find((b) => b.textContent === word), name);
  await open(tab, origin, chapter('01_naive', '?lab=itself'));
  await idle(page);
  await page.$$eval('.lab input[type=number]', (inputs) => inputs.slice(0, 3).forEach((input) => { input.value = 512; input.dispatchEvent(new Event('input')); }));
  await (await button('Run')).click();
  await page.waitForFunction(() => /\d+ of \d+ blocks/.test(document.querySelector('.lab .told').textContent), { polling: 20 });
  await (await button('Stop')).click();
  await page.waitForFunction(() => document.querySelector('.lab .told').textContent === 'Stopped.', { polling: 20 });
  await page.$$eval('.lab input[type=number]', (inputs) => inputs.slice(0, 3).forEach((input) => { input.value = 64; input.dispatchEvent(new Event('input')); }));
  await (await button('Run')).click();
  await page.waitForFunction(() => document.querySelector('.lab .verdict').textContent.includes('64 x 64 x 64'), { polling: 20 });
  return wrong;
}

// A link in the chapter's text opens its experiment in the lab of the same page.
async function chapter_link(tab, origin) {
  const { page } = tab;
  await open(tab, origin, chapter('02_smem_tile'));
  await page.evaluate(() => localStorage.clear());
  await page.click('main a[href*="?lab=02_no_second"]');
  await page.waitForSelector('.lab fieldset');
  await idle(page);
  const chosen = await page.$eval('.lab select', (select) => select.selectedOptions[0].textContent);
  return chosen.includes('the second barrier is missing') ? [] : [`the chapter's link opens "${chosen}"`];
}

async function bad_link(tab, origin) {
  await open(tab, origin, chapter('01_naive', '?lab=nothing'));
  await idle(tab.page);
  const told = await text(tab.page, '.lab .wrong');
  return told.includes('"nothing"') ? [] : [`a link to an experiment that there is not is told as "${told}"`];
}

// tab: of book_test.mjs, whose page reports requests to other hosts, errors and warnings. Returns what is wrong, in lines.
export async function labs(tab, origin) {
  const wrong = tab.wrong = [];
  await tab.page.setViewport({ width: 1280, height: 900 });
  for (const one of sample(experiments, 3)) wrong.push(...await experiment(tab, origin, one));
  wrong.push(...await first_result(tab, origin), ...await by_keys(tab, origin), ...await stop(tab, origin), ...await watching(tab, origin), ...await watched_matrices_and_why(tab, origin), ...await chapter_link(tab, origin),
    ...await bad_link(tab, origin));
  return wrong.map((line) => `labs: ${line}`);
}
