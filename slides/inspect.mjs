// What is wrong with the slide that a browser shows. This function runs in the page, at 1280 x 720.
export function inspect(index) {
  const found = [];
  const shown = document.querySelectorAll('svg[data-marpit-svg]')[index];
  const section = shown.querySelector('section');
  const edge = section.getBoundingClientRect(), style = getComputedStyle(section);
  const px = (text) => Number.parseFloat(text);
  const said = (text) => `"${text.trim().replace(/\s+/g, ' ').slice(0, 60)}"`;
  if (Math.round(edge.width) !== 1280 || Math.round(edge.height) !== 720)
    found.push(`the slide is ${edge.width} x ${edge.height}`);

  // --- nothing reaches into the margins, least of all beyond the slide ---
  const box = { left: edge.left + px(style.paddingLeft), right: edge.right - px(style.paddingRight),
    top: edge.top + px(style.paddingTop), bottom: edge.bottom - px(style.paddingBottom) };
  const outside = (r) => r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1;
  for (const element of section.querySelectorAll('*')) {
    const r = element.getBoundingClientRect();
    if (r.width && r.height && outside(r))
      found.push(`<${element.localName}> ${said(element.textContent)} reaches ${Math.round(r.right)}, ${Math.round(r.bottom)}`);
    if (element.clientWidth && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1))
      found.push(`<${element.localName}> ${said(element.textContent)} is cut off`);
  }

  // --- pictures: there, and with letters that the last row can read ---
  for (const img of section.querySelectorAll('img')) {
    if (!img.complete || !img.naturalWidth) {
      found.push(`the picture "${img.alt}" is missing`);
      continue;
    }
    if (!img.alt) found.push('a picture without words for those who do not see it');
    const r = img.getBoundingClientRect();
    const scale = Math.min(r.width / img.naturalWidth, r.height / img.naturalHeight);
    const svg = img.src.startsWith('data:image/svg+xml;base64,') ? atob(img.src.split(',')[1]) : '';
    const base = px(svg.match(/text \{ font: ([\d.]+)px/)?.[1] ?? '16');
    const sizes = Object.fromEntries([...svg.matchAll(/\.([\w-]+) \{ font-size: ([\d.]+)px/g)].map((m) => [m[1], px(m[2])]));
    for (const [, names] of svg.matchAll(/<text(?: [^>]*?class="([^"]*)")?/g)) {
      const size = (names ?? '').split(' ').map((name) => sizes[name]).find((s) => s) ?? base;
      if (size * scale < 13) {
        found.push(`the picture "${img.alt}" has letters of ${(size * scale).toFixed(1)} px`);
        break;
      }
    }
  }

  // --- colours and sizes of letters ---
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = numbers(color).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor, alpha = numbers(color)[3] ?? 1;
      if (alpha === 1) return color;
      if (alpha !== 0) found.push(`<${e.localName}> has a background that is partly transparent`);
    }
    return 'rgb(255, 255, 255)';
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const walk = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walk.nextNode()) {
    const text = walk.currentNode.data, parent = walk.currentNode.parentElement;
    if (!text.trim()) continue;
    const look = getComputedStyle(parent), ratio = contrast(look.color, behind(parent)), size = px(look.fontSize);
    if (ratio < 4.5) found.push(`${said(text)} has a contrast of ${ratio.toFixed(2)}`);
    if (size < 20) found.push(`${said(text)} has letters of ${size} px`);
    if (!parent.closest('pre, table')) words += text.trim().split(/\s+/).length;
  }
  if (words > 80) found.push(`${words} words`);
  if (section.dataset.marpitPagination) {
    const ratio = contrast(getComputedStyle(section, '::after').color, style.backgroundColor);
    if (ratio < 4.5) found.push(`the page number has a contrast of ${ratio.toFixed(2)}`);
  }
  if (!section.querySelector('h1, h2')) found.push('no headline');
  const note = document.querySelector(`.bespoke-marp-note[data-index="${index}"]`);
  if (!note?.textContent.trim()) found.push('no speaker notes');
  const kind = ['question', 'answer', 'exercise'].find((name) => section.classList.contains(name)) ?? '';
  return { found, kind, links: [...section.querySelectorAll('a')].map((a) => a.getAttribute('href')) };
}
