#!/usr/bin/env node
// The book in a browser: every page in headless Chromium, 360, 768 and 1280 pixels wide, in the light and in the dark;
// book/inspect.mjs says what may be wrong with one. Skipped with exit 77 when a package or Chromium is missing.
//
//   node slides/book_test.mjs BUILD [--shots DIR] [PAGE...]
//
// DIR: leaves a PNG of each page at each width. With pages named, it looks at these in BUILD/book, as that is.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { answering, without_help } from './book/answering_test.mjs';
import { broken, content, cut, joined, pale, shown_files, small_letters, too_wide } from './book/inspect.mjs';
import { editing } from './book/edit_page_test.mjs';
import { labs } from './book/lab_page_test.mjs';
import { book, make } from './book/make.mjs';
import { kernel_of, neighbours } from './book/pages.mjs';
import { serve } from './book/serve.mjs';
import { root } from './project.mjs';
import { brief } from './sample.mjs';
import { browse, missing, open_page } from './tools.mjs';

const widths = [1280, 768, 360];
const paper = 680;  // A4 with margins of 15 mm
const most_bytes = 110_000;  // by gzip, that a lesson loads before its lab is opened, without its pictures
const least_letters = 6.5;  // of a picture, in pixels; a click shows it larger

// A page that has every fault: the test has to see them all, or it proves nothing.
const faulty = { url: 'faulty', title: 'faulty', text: () => `---
search: false
---

<script setup>
import { onMounted } from 'vue';
onMounted(() => console.error('wrong on purpose'));
const none = '/files/none.svg', far = 'http://127.0.0.1:9/x.png';
const small = 'data:image/svg+xml,' + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="2400" height="9"><text /></svg>');
</script>

<div style="width: 700px">A line that is too long for a phone.</div>
<div style="color: #9a9a9a">Pale in the light.</div>
<div style="color: #606060">Pale in the dark.</div>
<img :src="none" alt="none"> <img :src="far">
<table><tbody><tr><td style="width: 40px">128 x 256</td><td style="min-width: 700px">Wide.</td>
<td style="width: 60px">A text of some length in a column that is too narrow.</td></tr></tbody></table>
<p><em>384</em><b>cycles</b> <code style="display: inline-block; width: 20px">--profile</code></p>
<span class="picture"><img :src="small" alt="small" style="width: 600px"></span>

[no such place](/start#no-such-place) <a href="/no-such-page.html" target="_self">no such page</a>
` };
const faults = ['wrong on purpose', 'at 360: the page is', 'on paper: <table>', 'the cell "128 x 256" is broken', 'is narrow',
  'the word "--profile" is broken', '"384cycles" lacks a blank', 'has letters of 4.0 px', 'in the light', 'in the dark',
  'the picture /files/none.svg is missing',
  'asked for http://127.0.0.1:9/x.png', 'has no words', 'no headline', 'start.html#no-such-place', 'no-such-page.html'];

// A tab, and what its pages do that they should not.
async function open_tab(browser, origin) {
  const page = await open_page(browser), tab = { page, wrong: [] };
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(data|blob):/.test(request.url())) tab.wrong.push(`asked for ${request.url()}`);
  });
  page.on('response', (response) => { if (response.status() >= 400) tab.wrong.push(`${response.url()} gave ${response.status()}`); });
  page.on('pageerror', (error) => tab.wrong.push(`script error: ${error.message}`));
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) tab.wrong.push(`console: ${message.text()}`); });
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  return tab;
}

async function look(tab, origin, url, shots) {
  const { page } = tab, wrong = tab.wrong = [];
  await page.setViewport({ width: widths[0], height: 900 });
  await page.goto(`${origin}/${url}.html`, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__, { polling: 50 });
  await page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' });
  const seen = await page.evaluate(content);
  wrong.push(...seen.found, ...await page.evaluate(joined));
  for (const width of widths) {
    await page.setViewport({ width, height: 900 });
    for (const text of [...await page.evaluate(too_wide), ...await page.evaluate(broken),
      ...await page.evaluate(small_letters, least_letters)]) wrong.push(`at ${width}: ${text}`);
    if (width === 768) continue;
    for (const dark of width === 360 ? [false] : [true, false])
      for (const text of await page.evaluate(pale, dark)) wrong.push(`at ${width}: ${text}`);
  }
  await page.setViewport({ width: paper, height: 900 });
  await page.emulateMediaType('print');
  wrong.push(...(await page.evaluate(cut)).map((text) => `on paper: ${text}`));
  await page.emulateMediaType('screen');
  if (url.startsWith('changes/') && !url.endsWith('/index')) wrong.push(...await compare(page, url));
  if (shots) await shoot(page, join(shots, url.replaceAll('/', '_')));
  return { url, links: seen.links, names: seen.names, wrong: wrong.map((text) => `${url}: ${text}`) };
}

async function shoot(page, name) {
  for (const width of widths)
    for (const dark of [true, false]) {
      await page.setViewport({ width, height: 900 });
      await page.evaluate((on) => document.documentElement.classList.toggle('dark', on), dark);
      await page.screenshot({ path: `${name}_${width}${dark ? '_dark' : ''}.png` });
    }
}

// The columns of a page of changes are the two files, and it marks as many lines as diff does.
async function compare(page, url) {
  const { before, step } = neighbours().find((pair) => url.endsWith(pair.step)), wrong = [];
  const paths = [before, step].map((name) => resolve(root, kernel_of(name)));
  const files = paths.map((path) => readFileSync(path, 'utf8').replace(/\n$/, '').split('\n'));
  const diff = spawnSync('diff', paths, { encoding: 'utf8' }).stdout.split('\n');
  const narrow = await page.evaluate(shown_files);
  await page.setViewport({ width: widths[0], height: 900 });
  const wide = await page.evaluate(shown_files);
  if (narrow.columns !== 1 || wide.columns !== 2) wrong.push(`${narrow.columns} columns on a phone, ${wide.columns} on a desk`);
  for (const [i, shown] of [wide.before, wide.after].entries())
    if (shown.join('\n') !== files[i].join('\n')) wrong.push(`a column is not ${paths[i]}`);
  const [go, come] = ['<', '>'].map((sign) => diff.filter((line) => line.startsWith(`${sign} `) || line === sign).length);
  if (wide.go !== go || wide.come !== come) wrong.push(`${wide.come} lines come and ${wide.go} go; diff has ${come} and ${go}`);
  return wrong;
}

// By the keyboard alone: Ctrl-K, a word, Enter.
async function search(browser, origin) {
  const page = await open_page(browser);
  await page.setViewport({ width: widths[0], height: 900 });
  await page.goto(`${origin}/ladder.html`, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__, { polling: 50 });
  await page.keyboard.down('Control');
  await page.keyboard.press('k');
  await page.keyboard.up('Control');
  await page.waitForSelector('.VPLocalSearchBox input');
  await page.type('.VPLocalSearchBox input', 'coalescing');
  await page.waitForSelector('.VPLocalSearchBox .result');
  const wrong = await page.evaluate(pale, false);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.pathname !== '/ladder.html' && /coalesc/i.test(document.querySelector('main').textContent),
    { polling: 50 });
  await page.close();
  return wrong.map((text) => `search: ${text}`);
}

// The decks that were rendered before: their links lead to pages of the book.
function deck_links(folder) {
  const decks = existsSync(join(folder, 'decks')) ? readdirSync(join(folder, 'decks')).filter((name) => /^\d\d_.*html$/.test(name)) : [];
  return decks.map((name) => ({ url: `decks/${name.replace('.html', '')}`, names: [], links:
    [...readFileSync(join(folder, 'decks', name), 'utf8').matchAll(/ href="(?![a-z]+:|#)([^"]*)"/g)].map((m) => m[1]) }));
}

// The pages that are not looked at in the browser, and the places in them.
function only_read(urls, folder) {
  return urls.map((url) => ({ url, links: [],
    names: [...readFileSync(join(folder, `${url}.html`), 'utf8').matchAll(/ id="([^"]*)"/g)].map((m) => m[1]) }));
}

// Which pages a browser looks at: in the brief setup one of the chapters, one of the kernels and so on, and all others.
function choice() {
  const first = new Map();
  return (url) => {
    const [folder] = url.split('/');
    if (!first.has(folder) && !url.endsWith('/index')) first.set(folder, url);
    return !brief || url.endsWith('/index') || first.get(folder) === url;
  };
}

// Links to places of the book that do not exist.
function dead(looked_at, folder, origin) {
  const decks = deck_links(folder).map((deck) => ({ ...deck, links: deck.links.map((link) => new URL(link, `${origin}/decks/`).href) }));
  const pages = [...looked_at, ...decks];
  const names = new Map(pages.map((page) => [`/${page.url}.html`, new Set(page.names)])), wrong = [];
  for (const { url, links } of pages)
    for (const link of links.filter((text) => text.startsWith(`${origin}/`))) {
      const { pathname, hash } = new URL(link), path = pathname.replace(/\/$/, '/index.html');
      if (!path.endsWith('.html') && existsSync(join(folder, decodeURIComponent(path)))) continue;  // a file: a picture, a licence
      if (!names.has(path) || (hash && !names.get(path).has(decodeURIComponent(hash.slice(1)))))
        wrong.push(`${url}: leads to ${path.slice(1)}${hash}, which does not exist`);
    }
  return [...new Set(wrong)];
}

// What a browser loads for a lesson: the page, and what it names.
function large(urls, folder) {
  const packed = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
  return urls.filter((url) => /^chapters\/\d/.test(url)).flatMap((url) => {
    const assets = [...readFileSync(join(folder, `${url}.html`), 'utf8').matchAll(/(?:href|src)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((m) => m[1]);
    const bytes = [`${url}.html`, ...new Set(assets)].reduce((sum, name) => sum + packed(name), 0);
    return bytes < most_bytes && assets.length > 3 ? [] : [`${url}: ${assets.length} files of ${bytes} bytes by gzip, and there may be ${most_bytes}`];
  });
}

async function test(build, shots, only) {
  const folder = mkdtempSync(join(tmpdir(), 'book-test-')), wrong = [], begun = Date.now();
  const seconds = () => `${((Date.now() - begun) / 1000).toFixed(0)} s`;
  const chosen = choice(), coloured = (url) => chosen(url) || url.startsWith('chapters/');  // whose sizes are asked for
  let browser, server;
  try {
    const urls = only.length ? only : await make(build, folder, { more: [faulty], coloured });
    console.log(`made after ${seconds()}`);
    browser = await browse();
    server = await serve(only.length ? join(build, 'book') : folder);
    const origin = `http://127.0.0.1:${server.address().port}`, pages = [];
    const queue = only.length ? [...urls] : urls.filter(chosen), rest = urls.filter((url) => !queue.includes(url));
    const work = async () => {
      const tab = await open_tab(browser, origin);
      while (queue.length) pages.push(await look(tab, origin, queue.shift(), shots));
      await tab.page.close();
    };
    await Promise.all(shots ? [work()] : [work(), work()]);  // only the tab in front can be shot
    const all = [...pages.flatMap((page) => page.wrong), ...(only.length ? [] : dead([...pages, ...only_read(rest, folder)], folder, origin))];
    const caught = all.filter((text) => text.startsWith('faulty: '));
    wrong.push(...all.filter((text) => !text.startsWith('faulty: ')), ...(only.length ? [] : large(urls, folder)));
    wrong.push(...await search(browser, origin));
    if (urls.includes('banks')) wrong.push(...without_help(pages, origin), ...await answering(await open_tab(browser, origin), origin));
    if (existsSync(join(only.length ? join(build, 'book') : folder, 'labs')) && urls.some((url) => /^chapters\/02/.test(url)))
      wrong.push(...await labs(await open_tab(browser, origin), origin));
    if (existsSync(join(only.length ? join(build, 'book') : folder, 'labs', 'compile_worker.js')) && !only.length)
      wrong.push(...await editing(await open_tab(browser, origin), origin));
    for (const fault of faults)
      if (!only.length && !caught.some((text) => text.includes(fault))) wrong.push(`this test does not notice "${fault}"`);
    console.log(`${pages.length} of ${urls.length} pages looked at after ${seconds()}; ${wrong.length || 'nothing'} wrong`);
  } finally {
    await browser?.close();
    server?.close();
    rmSync(folder, { recursive: true });
    for (const line of wrong) console.error(line);
  }
  return wrong.length ? 1 : 0;
}

async function main() {
  const args = process.argv.slice(2), at = args.indexOf('--shots');
  const shots = at < 0 ? null : resolve(args.splice(at, 2)[1]);
  const [build, ...only] = args;
  if (!build) throw new Error('usage: node slides/book_test.mjs BUILD [--shots DIR] [PAGE...]');
  const lacking = [...missing(false), ...missing(false, { folder: book, browser: false })];
  if (lacking.length) {
    console.log(`skipped: ${[...new Set(lacking)].join('; ')}`);
    return 77;
  }
  if (shots) mkdirSync(shots, { recursive: true });
  return test(resolve(build), shots, only);
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`book: ${error.stack}`);
  process.exitCode = 1;
});
