// The pages that answer, in a browser, for book_test.mjs: presets, pointer and keys, the view in the address, the copied link.
import { helps } from './answering.mjs';
import { pale, too_wide } from './inspect.mjs';
import { sample } from '../sample.mjs';

const WITHIN = 50;  // ms for an answer on the screen

const root = { banks: '.banks', fragments: '.fragments', occupancy: '.occupancy' };
const ready = { banks: '.banks .waves', fragments: '.fragments table', occupancy: '.occupancy .slots' };

async function open(tab, origin, view) {
  const name = view.split('?')[0];
  await tab.page.goto(`${origin}/${view.replace(name, `${name}.html`)}`, { waitUntil: 'load' });
  await tab.page.waitForSelector(ready[name]);
}

// What a page shows: the text of its answer, and the colours of its cells.
const shown = (page, name) => page.$eval(root[name], (element) => [element.innerText,
  ...[...element.querySelectorAll('td, .slots span, path')].map((cell) => cell.className.baseVal ?? `${cell.className} ${cell.getAttribute('d') ?? ''}`),
  ...[...element.querySelectorAll('select, form input')].map((input) => input.value)].join('\n'));

const search_of = (page) => page.evaluate(() => location.search);
const settled = () => new Promise((done) => setTimeout(done, 300));

// --- presets: the answers, and how fast they are on the screen ---

async function presses(page, name) {
  return page.evaluate(async (selector) => {
    const found = [], element = document.querySelector(selector), drawn = () => new Promise((done) => setTimeout(done));
    for (const button of element.querySelectorAll('.presets button')) {
      const times = [];
      for (let i = 0; i < 8; i++) {  // on a busy machine, one of them is undisturbed
        const begun = performance.now();
        button.click();
        await drawn();
        element.getBoundingClientRect();
        times.push(performance.now() - begun);
      }
      found.push({ name: button.textContent, ms: Math.min(...times), conflicts: element.querySelector('.conflicts')?.textContent,
        wrong: element.querySelector('.wrong')?.textContent, blocks: element.querySelector('.sums .blocks')?.textContent });
    }
    return found;
  }, root[name]);
}

async function presets(tab, origin, name, known) {
  await open(tab, origin, name);
  const found = await presses(tab.page, name), wrong = [], slowest = Math.max(...found.map(({ ms }) => ms));
  for (const { name: preset, wrong: text } of found) if (text) wrong.push(`"${preset}": ${text}`);
  for (const [preset, fields] of Object.entries(known)) {
    const answer = found.find((one) => one.name === preset);
    for (const [field, value] of Object.entries(fields))
      if (answer?.[field] !== value) wrong.push(`"${preset}" has ${answer?.[field]} ${field}, not ${value}`);
  }
  if (slowest > WITHIN) wrong.push(`an answer took ${slowest.toFixed(0)} ms`);
  console.log(`${name}: ${found.length} presets, an answer on the screen after at most ${slowest.toFixed(1)} ms`);
  return wrong;
}

const zero = { conflicts: '0' };
const known = {
  banks: { 'side by side': zero, 'a column': { conflicts: '31' }, 'a column, padded': zero, ldmatrix: { conflicts: '12' },
    'ldmatrix, padded': zero, 'ldmatrix, swizzled': zero },
  fragments: { B: {} },
  occupancy: { 'step 04': { blocks: '2' }, 'step 03': { blocks: '4' } },
};

// --- the map of fragments, by pointer and by keys ---

const said = (page) => page.$eval('.fragments .said', (element) => element.textContent);
const marked = (page) => page.$$eval('.fragments td.same', (cells) => cells.map(({ dataset }) => `${dataset.row},${dataset.col}`).join(' '));
const owned = '1,2 1,3 1,10 1,11 9,2 9,3 9,10 9,11';  // lane 5's elements of A, PTX ISA's figure for m16n8k16

async function pointing(tab, origin) {
  const { page } = tab, wrong = [];
  const expect = async (what, text, cells) => {
    const [told, marks] = [await said(page), await marked(page)];
    if (!told.includes(text)) wrong.push(`${what}: "${told}", not "${text}"`);
    if (cells !== undefined && marks !== cells) wrong.push(`${what}: marks ${marks}, not ${cells}`);
  };
  await open(tab, origin, 'fragments');
  await page.hover('.fragments td[data-row="9"][data-col="3"]');
  await expect('pointer at an element', 'Row 9, column 3: lane 5, register a1, the high half.', owned);
  await page.hover('.fragments .lanes button:nth-child(6)');
  await expect('pointer at a lane', 'Lane 5 holds, as (row, column): a0 (1, 2) (1, 3); a1 (9, 2) (9, 3);', owned);
  await page.hover('.fragments .name');
  await expect('pointer away', 'Point at an element', '');
  await page.focus('.fragments .copy button');
  for (const key of ['Tab', 'ArrowRight', 'Tab', ...Array(9).fill('ArrowDown'), ...Array(3).fill('ArrowRight')]) await page.keyboard.press(key);
  await expect('keys', 'Row 9, column 3: lane 5, register a1, the high half.', owned);
  await page.keyboard.press('Enter');
  await settled();
  if (await search_of(page) !== '?lane=5') wrong.push(`Enter keeps ${await search_of(page)}, not ?lane=5`);
  await page.select('.fragments form label:nth-child(5) select', 'rows');
  await page.hover('.fragments td[data-row="9"][data-col="3"]');
  await expect('ldmatrix', 'Row 9, columns 0 to 7: lane 9 names the address of this row of matrix 1. Element 9, 3 goes to lane 5, register a1, the high half.');
  return wrong;
}

// --- the view in the address ---

const views = ['banks?access=ldmatrix.x4&element=2&vector=8&pad=8&index=lane+%25+16+*+pitch+%2B+lane+%2F+16+*+8', 'banks?index=lane+*+pitch',
  'fragments?shape=mma.m16n8k32&type=s8&sum=s32&operand=b&lane=7', 'fragments?shape=wmma.m8n32k16&operand=b&view=columns',
  'fragments?type=f64&sum=f64&operand=d', 'occupancy?card=RTX+4090&threads=512&registers=40&shared=50000',
  'occupancy?card=T4&threads=1024&registers=255&shared=65536'];

const bad = { 'banks?width=0&access=fetch&other=1': ['width=0: it must be a whole number from 1 to 8192. Shown is 32.', 'access=fetch', '"other"'],
  'banks?index=lane+*': ['the index "lane *": something is missing at the end'],
  'banks?index=lane+*+99999999999+%26+31': ['99999999999 does not fit in an int'], 'banks?vector=16': ['not 64'],
  'banks?index=-lane': ['before the begin'], 'fragments?shape=m16&lane=99': ['shape=m16: it must be one of mma.m16n8k16', 'lane=99'],
  'fragments?type=tf32': ['mma.m16n8k16 multiplies f16, bf16, f64, s8, u8, not tf32'], 'fragments?operand=c&view=rows': ['ldmatrix cannot fill c'],
  'occupancy?card=H300&threads=2000&registers=1e2&shared=-1': ['card=H300: it must be one of H200, H100', 'threads=2000', 'registers=1e2', 'shared=-1'] };

async function same_view(tab, origin, view) {
  const { page } = tab, name = view.split('?')[0], wrong = [];
  await open(tab, origin, name);
  const plain = await shown(page, name);
  await open(tab, origin, view);
  const first = await shown(page, name), told = await page.$$eval('.view-link .wrong', (list) => list.map((p) => p.textContent));
  await settled();
  const kept = new URLSearchParams(await search_of(page)), wanted = new URLSearchParams(view.split('?')[1]);
  for (const list of [kept, wanted]) list.sort();
  if (`${kept}` !== `${wanted}`) wrong.push(`the address becomes ${kept}`);
  await page.reload({ waitUntil: 'load' });
  await page.waitForSelector(ready[name]);
  if (await shown(page, name) !== first) wrong.push('a reload shows another view');
  if (first === plain) wrong.push('shows the plain view');
  if (told.length) wrong.push(`is told wrong: ${told[0]}`);
  await page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' });
  for (const width of [1280, 768, 360]) {
    await page.setViewport({ width, height: 900 });
    for (const text of await page.evaluate(too_wide)) wrong.push(`at ${width}: ${text}`);
    for (const dark of [true, false]) wrong.push(...await page.evaluate(pale, dark));
  }
  await page.setViewport({ width: 1280, height: 900 });
  return wrong.map((text) => `${view}: ${text}`);
}

async function bad_view(tab, origin, view, lines) {
  const { page } = tab, name = view.split('?')[0], wrong = [];
  await open(tab, origin, name);
  const plain = await shown(page, name);
  await open(tab, origin, view);
  const told = await page.$$eval('.view-link .wrong', (list) => list.map((p) => p.textContent));
  for (const line of lines) if (told.filter((text) => text.includes(line)).length !== 1) wrong.push(`does not tell "${line}" but "${told.join(' ')}"`);
  if (told.length !== lines.length) wrong.push(`tells ${told.length} lines, not ${lines.length}`);
  const now = await shown(page, name), rest = told.reduce((text, line) => text.replace(line, ''), now);
  if (rest.replace(/\s+/g, ' ') !== plain.replace(/\s+/g, ' ')) wrong.push('does not show the plain view');
  return wrong.map((text) => `${view}: ${text}`);
}

// The views to which chapters and tasks link can be shown.
async function helping(tab, origin) {
  const wrong = [], all = new Set(Object.values(helps).flat().map(([, view]) => view));
  for (const view of sample([...all], 4)) {
    await open(tab, origin, view);
    const told = await tab.page.$$eval('.answers .wrong', (list) => list.map((p) => p.textContent));
    if (told.length) wrong.push(`the link ${view}: ${told[0]}`);
  }
  return wrong;
}

// The chapters and tasks have these links, in whatever way their signs are written. pages: { url, links } of book_test.mjs.
export function without_help(pages, origin) {
  const plain = (link) => {
    const { pathname, searchParams } = new URL(link, `${origin}/`);
    return `${pathname.replace('.html', '')}?${searchParams}`;
  };
  return Object.entries(helps).flatMap(([url, list]) => {
    const links = pages.find((page) => page.url === url)?.links.map(plain);
    return links ? list.filter(([, view]) => !links.includes(plain(view))).map(([, view]) => `${url}: has no link to ${view}`) : [];
  });
}

// A link of a chapter opens its view; the menu's link to the page, while it is open, the plain one; Back, what was before.
async function links(tab, origin) {
  const { page } = tab, wrong = [], picture = () => page.$eval('.fragments form label:nth-child(5) select', ({ value }) => value);
  await page.goto(`${origin}/chapters/11_mma_ptx.html`, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__, { polling: 50 });
  await page.click('main a[href$="/fragments.html?view=rows"]');
  await page.waitForSelector(ready.fragments);
  await settled();
  if (await picture() !== 'rows') wrong.push(`the chapter's link shows ${await picture()}`);
  await page.click('.VPSidebar a[href$="/fragments.html"]');
  await settled();
  if (await picture() !== 'held') wrong.push(`the menu's link shows ${await picture()}`);
  await page.goBack();
  await settled();
  if (await picture() !== 'rows') wrong.push(`Back shows ${await picture()}`);
  return wrong;
}

// --- the copied link ---

async function copied(tab, origin) {
  const { page } = tab, view = views.at(-1), wrong = [], wanted = `${origin}/${view.replace('?', '.html?')}`;
  await page.browserContext().overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
  await page.bringToFront();
  await open(tab, origin, view);
  await page.click('.view-link button');
  await page.waitForFunction(() => document.querySelector('.view-link [role=status]').textContent === 'Copied.');
  const text = await page.evaluate(() => navigator.clipboard.readText());
  if (text !== wanted) wrong.push(`the copied link is ${text}, not ${wanted}`);
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await page.click('.view-link button');
  const input = await page.waitForSelector('.view-link input');
  if (await input.evaluate(({ value }) => value) !== wanted) wrong.push('without a clipboard the link is not shown');
  return wrong;
}

// An input that is empty or beyond its limits, and an expression that is none.
async function inputs(tab, origin) {
  const { page } = tab, wrong = [];
  const type = async (view, selector, text, told) => {
    await open(tab, origin, view);
    await page.$eval(selector, (input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }, text);
    await settled();
    const found = await page.$eval(`${root[view]} > .wrong`, (p) => p.textContent).catch(() => '');
    if (!found.includes(told)) wrong.push(`${view}: "${text}" is told as "${found}"`);
    if (await search_of(page)) wrong.push(`${view}: "${text}" is in the address`);
  };
  await type('banks', '.banks .index input', 'lane * nothing', 'nothing');
  await type('banks', '.banks .index input', 'lane * 99999999999', 'does not fit in an int');
  await type('banks', '.banks input[type=number]', '', 'width must be a whole number');
  await type('occupancy', '.occupancy input[type=number]', '1025', 'threads must be a whole number from 1 to 1024, not 1025');
  return wrong;
}

// tab: { page, wrong } of book_test.mjs, whose page reports what it should not do. Returns what is wrong, in lines.
export async function answering(tab, origin) {
  const wrong = tab.wrong = [];
  await tab.page.setViewport({ width: 1280, height: 900 });
  for (const name of Object.keys(root)) wrong.push(...(await presets(tab, origin, name, known[name])).map((text) => `${name}: ${text}`));
  wrong.push(...await pointing(tab, origin), ...await links(tab, origin), ...await helping(tab, origin), ...await inputs(tab, origin));
  for (const view of sample(views, 3)) wrong.push(...await same_view(tab, origin, view));
  for (const [view, lines] of sample(Object.entries(bad), 3)) wrong.push(...await bad_view(tab, origin, view, lines));
  wrong.push(...await copied(tab, origin));
  return wrong;
}
