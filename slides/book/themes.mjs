// The colours of code: GitHub's, with the ones that are too pale for a tinted line made darker, or lighter.
import dark from 'shiki/themes/github-dark-high-contrast.mjs';
import light from 'shiki/themes/github-light-high-contrast.mjs';

function recoloured(theme, colours) {
  let text = JSON.stringify(theme);
  for (const [from, to] of Object.entries(colours)) text = text.replaceAll(new RegExp(from, 'gi'), to);
  return JSON.parse(text);
}

export const themes = { light: recoloured(light, { '#66707b': '#4b5560' }), dark: recoloured(dark, { '#bdc4cc': '#b4bcc5' }) };
