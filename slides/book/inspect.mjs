// What is wrong with the page that a browser shows. These functions run in the page.

// Wider than the window, or with letters cut off at its edge.
export function too_wide() {
  const room = document.documentElement.clientWidth, wide = document.documentElement.scrollWidth, found = [];
  const scrolls = (element) => {
    for (let e = element; e && e !== document.body; e = e.parentElement)
      if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  for (const element of document.body.querySelectorAll('*')) {
    const { right, width } = element.getBoundingClientRect();
    const has_text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (width > 1 && right > room + 1 && (has_text || element.localName === 'img') && element.checkVisibility() && !scrolls(element))
      found.push(`<${element.localName}> "${element.textContent.trim().slice(0, 30)}" reaches ${Math.round(right)} of ${room}`);
  }
  if (wide > room) found.unshift(`the page is ${wide} wide, of ${room}`);
  return found.slice(0, 4);
}

// Sizes in a table that are broken into lines, "128 x" above "256", and words of code, "--" above "profile"; cells with much
// text in a narrow column.
export function broken() {
  const found = [];
  const lines = (range) => new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
  for (const cell of document.querySelectorAll('.vp-doc :is(td, th)')) {
    const text = cell.textContent.trim(), range = document.createRange();
    if (text.length > 40 && cell.getBoundingClientRect().width < 140) found.push(`the cell "${text.slice(0, 20)}..." is narrow`);
    if (!/^\d+( x \d+)+$/.test(text)) continue;
    range.selectNodeContents(cell);
    if (lines(range) > 1) found.push(`the cell "${text}" is broken`);
  }
  for (const code of document.querySelectorAll('.vp-doc :not(pre) > code')) {
    const walk = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walk.nextNode())
      for (const { 0: word, index } of walk.currentNode.data.matchAll(/--?[a-z][\w-]{1,17}/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        if (lines(range) > 1) found.push(`the word "${word}" is broken`);
      }
  }
  return [...new Set(found)].slice(0, 4);
}

// Tables and code that reach beyond their frame, where paper cannot scroll.
export function cut() {
  return [...document.querySelectorAll('.vp-doc :is(table, pre, .picture)')].filter((e) => e.scrollWidth > e.clientWidth + 1).slice(0, 4)
    .map((e) => `<${e.localName}> "${e.textContent.trim().slice(0, 30)}" is ${e.scrollWidth} wide, of ${e.clientWidth}`);
}

// Words that run together, "stalls0.39": a blank was lost between two elements.
export function joined() {
  const found = [];
  for (const element of document.querySelectorAll('.vp-doc :is(p, li, td, th) :is(a, code, em, strong, span)')) {
    const next = element.nextSibling;
    if (element.closest('pre, .answers, .compared') || next?.nodeType !== Node.ELEMENT_NODE) continue;
    const text = `${element.textContent.slice(-12)}|${next.textContent.slice(0, 12)}`;
    if (!element.matches('.whole, .header-anchor') && /\w\|\w/.test(text)) found.push(`"${text.replace('|', '')}" lacks a blank`);
  }
  return found.slice(0, 4);
}

// Pictures whose smallest letters, in pixels of the screen, are less than least.
export async function small_letters(least) {
  const found = [], px = Number.parseFloat;
  // After a change of width the browser takes the other form of a picture when it gets to it.
  const settled = async (img) => {
    const source = img.closest('picture')?.querySelector('source');
    const wanted = source && new URL(matchMedia(source.media).matches ? source.srcset : img.src, document.baseURI).href;
    while (wanted && (img.currentSrc !== wanted || !img.complete)) await new Promise((done) => setTimeout(done, 10));
  };
  for (const img of document.querySelectorAll('.picture img')) {
    await settled(img);
    const svg = await (await fetch(img.currentSrc)).text(), natural = px(svg.match(/<svg[^>]* width="([\d.]+)"/)?.[1]);
    const base = px(svg.match(/text \{ font: ([\d.]+)px/)?.[1] ?? '16');
    const sizes = Object.fromEntries([...svg.matchAll(/\.([\w-]+) \{ font-size: ([\d.]+)px/g)].map((m) => [m[1], px(m[2])]));
    const used = [...svg.matchAll(/<text(?: [^>]*?class="([^"]*)")?/g)].map(([, names]) =>
      (names ?? '').split(' ').map((name) => sizes[name]).find(Boolean) ?? base);
    const smallest = Math.min(...used) * img.getBoundingClientRect().width / natural;
    if (smallest < least) found.push(`the picture "${img.alt}" has letters of ${smallest.toFixed(1)} px`);
  }
  return found;
}

// Letters that are hard to read, in the light or in the dark.
export function pale(dark) {
  document.documentElement.classList.toggle('dark', dark);
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const over = ([r, g, b, alpha = 1], under) => [r, g, b].map((c, i) => c * alpha + under[i] * (1 - alpha));
  const known = new Map();
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    if (!known.has(element)) known.set(element, over(numbers(getComputedStyle(element).backgroundColor), behind(element.parentElement)));
    return known.get(element);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = new Set();
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    if (!text || seen.has(element) || /^(script|style|noscript|title)$/.test(element.localName)) continue;
    seen.add(element);
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || element.getBoundingClientRect().width <= 1) continue;
    const under = behind(element), color = over(numbers(getComputedStyle(element).color), under);
    const [light, dim] = [luminance(under), luminance(color)].sort((a, b) => b - a), ratio = (light + 0.05) / (dim + 0.05);
    const what = `${color.map(Math.round)} on ${under.map(Math.round)}`;
    if (ratio < 4.5 && !found.has(what))
      found.set(what, `"${text.slice(0, 40)}" has a contrast of ${ratio.toFixed(2)} in the ${dark ? 'dark' : 'light'} (${what})`);
  }
  return [...found.values()];
}

// Pictures that are missing or have no words; where the page leads, and what can be led to.
export async function content() {
  const found = [];
  for (const img of document.images) {
    img.loading = 'eager';
    await img.decode().catch(() => found.push(`the picture ${img.getAttribute('src')} is missing`));
    if (!img.alt) found.push(`the picture ${img.getAttribute('src')} has no words for those who do not see it`);
  }
  if (!document.querySelector('h1')) found.push('no headline');
  if (!document.title || !document.documentElement.lang) found.push('no title or no language');
  return { found, links: [...document.querySelectorAll('a[href]')].map((a) => a.href),
    names: [...document.querySelectorAll('[id]')].map(({ id }) => id) };
}

// The two files of a page of changes, as the page shows them, and how many lines it marks.
export function shown_files() {
  const lines = (selector) => [...document.querySelectorAll(`${selector} .line pre`)].map((line) => line.textContent.replace(/^ $/, ''));
  const columns = getComputedStyle(document.querySelector('.compared .changed')).gridTemplateColumns.split(' ').length;
  return { before: lines('.compared .old'), after: lines('.compared .fresh'), columns,
    go: lines('.compared .changed .old').length, come: lines('.compared .changed .fresh').length };
}
