#!/usr/bin/env node
// Renders every deck to HTML, PDF and its notes as text: node slides/render.mjs OUTPUT_FOLDER [--html]. meson compile -C build slides
// calls it. The decks are rendered as they are; refresh.mjs brings them up to date.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { deck_names } from './texts.mjs';
import { slides } from './project.mjs';
import { chromium, missing, sandboxed } from './tools.mjs';

function marp(from, to, options) {
  const args = [join(slides, 'node_modules', '@marp-team', 'marp-cli', 'marp-cli.js'), '--config',
    join(slides, 'marp.config.mjs'), '--input-dir', from, '--output', to, '--quiet', ...options];
  const env = { ...process.env, CHROME_PATH: chromium(), SLIDES_SOURCE: relative(to, slides) };
  if (!sandboxed) env.CHROME_NO_SANDBOX = '1';
  return new Promise((done) => {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    child.on('close', (status) => done({ status, said }));
  });
}

// Every Markdown file in the folder from; formats: html, pdf, notes. Paper has no notes: a PDF would show each as an icon.
export async function render(from, to, formats) {
  const options = { html: [], pdf: ['--pdf', '--pdf-outlines', '--parallel', '2'], notes: ['--notes'] };
  const runs = await Promise.all(formats.map((format) => marp(from, to, options[format])));
  const failed = runs.find(({ status }) => status);
  if (failed) throw new Error(`Marp failed:\n${failed.said}`);
}

// The decks alone: Marp takes all that a folder has, and README.md is none.
function decks_in(folder) {
  for (const name of deck_names()) copyFileSync(join(slides, name), join(folder, name));
  return folder;
}

async function main() {
  const [to, option] = process.argv.slice(2);
  if (!to || (option && option !== '--html')) {
    console.error('usage: node slides/render.mjs OUTPUT_FOLDER [--html]');
    return 2;
  }
  const lacking = missing(true);
  for (const line of lacking) console.error(`slides: ${line}`);
  if (lacking.length) return 1;
  const formats = option ? ['html'] : ['html', 'pdf', 'notes'];
  const begun = Date.now(), source = mkdtempSync(join(tmpdir(), 'slides-'));
  try {
    await render(decks_in(source), resolve(to), formats);
  } finally {
    rmSync(source, { recursive: true });
  }
  console.log(`${deck_names().length} decks as ${formats.join(', ')} in ${resolve(to)}, ` +
    `${((Date.now() - begun) / 1000).toFixed(1)} s`);
  return 0;
}

if (process.argv[1]?.endsWith('render.mjs'))
  main().then((status) => (process.exitCode = status), (error) => {
    console.error(`slides: ${error.message}`);
    process.exitCode = 1;
  });
