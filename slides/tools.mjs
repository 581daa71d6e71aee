// What rendering and its test need and a machine may lack: the packages of package.json, and Chromium.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, join, relative } from 'node:path';
import { root, slides } from './project.mjs';

const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export function chromium() {
  if (process.env.CHROME_PATH) return existsSync(process.env.CHROME_PATH) ? process.env.CHROME_PATH : null;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return browsers.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync) ?? null;
}

// The packages, as the lock file has them? npm leaves a copy of it behind.
function installed(folder) {
  const kept = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(kept)) return false;
  const [want, have] = [join(folder, 'package-lock.json'), kept].map((path) => JSON.parse(readFileSync(path, 'utf8')));
  return Object.entries(want.packages).every(([path, { version, optional }]) =>
    !path || optional || have.packages[path]?.version === version);
}

// What is missing, one line each; install: fetch the packages if they are what is missing; folder: whose packages;
// browser: is Chromium needed?
export function missing(install, { folder = slides, browser = true } = {}) {
  const lines = [];
  if (Number(process.versions.node.split('.')[0]) < 18)
    lines.push(`Node ${process.versions.node} is too old; the slides need 18 or newer (nodejs.org, or apt-get install nodejs)`);
  if (browser && !chromium())
    lines.push(process.env.CHROME_PATH ? `CHROME_PATH is ${process.env.CHROME_PATH}, which does not exist`
      : `Chromium is not on the PATH: apt-get install chromium, or say where it is in CHROME_PATH`);
  if (!lines.length && install && !installed(folder)) {
    // Not npm ci: it refuses a lock file without the optional packages of other platforms, which not every mirror has.
    console.log(`${basename(folder)}: npm install, once`);
    const npm = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    if (npm.error) lines.push(`npm could not be run (${npm.error.code}): apt-get install npm`);
  }
  const name = relative(root, folder);
  if (!installed(folder)) lines.push(`the packages of ${name}/package.json are not installed: npm install --no-save --prefix ${name}`);
  return lines;
}

// For root, as in CI's containers, Chromium starts only without its sandbox.
export const sandboxed = process.getuid?.() !== 0;

// Chromium, and a page of it. On a machine that is busy with other things a page may take a minute.
const patience = 300_000;  // ms

export async function browse() {
  const { default: puppeteer } = await import('puppeteer-core');
  const args = ['--disable-gpu', ...(sandboxed ? [] : ['--no-sandbox'])];
  return puppeteer.launch({ executablePath: chromium(), args, timeout: patience, protocolTimeout: patience });
}

export async function open_page(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  return page;
}
