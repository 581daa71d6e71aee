// The labs of the chapters on their pages, and the files that these load: lab_list.mjs says what they run.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { written_out } from '../places.mjs';
import { read, slides } from '../project.mjs';
import { metric } from '../results.mjs';
import { blocks } from './changes.mjs';
import { exercises } from './exercise_pages.mjs';
import { built, headers_of, lab_list, lab_texts, source_of, type_of } from './lab_list.mjs';

// Which lines came in place of which: [{ at, fresh, old }]; at: the first line that came, fresh: how many did.
function changes(before, after) {
  let at = 1;
  return blocks(before, after).flatMap((block) => {
    const from = at;
    at += (block.same ?? block.fresh).length;
    return block.same ? [] : [{ at: from, fresh: block.fresh.length, old: block.old.map(({ text }) => text) }];
  });
}

function kernel_about(build, step, kernel) {
  const time = join(build, 'slides', `${kernel}.time.json`);
  return { changed: changes(source_of(build, step, step), source_of(build, step, kernel)),
    headers: headers_of(build, step, kernel),
    time: existsSync(time) ? JSON.parse(readFileSync(time, 'utf8')) : null };
}

// What a chapter's page says of its lab; null where there is none.
export function lab_of(build, step, version, compiler = null) {
  const lab = lab_list().find((one) => one.step === step);
  if (!lab || !version || !built(build, lab)) return null;
  const kernels = [...new Set(lab.runs.map(({ kernel }) => kernel))];
  const counters = Object.fromEntries(lab.runs.map(({ ask }) => ask).filter((ask) => ask && !['verdict', 'time'].includes(ask))
    .map((ask) => [ask, metric(ask)]));
  // Where no time was predicted, nobody is asked for one.
  const about = Object.fromEntries(kernels.map((kernel) => [kernel, kernel_about(build, step, kernel)]));
  const timed = ({ kernel }) => about[kernel].time?.ms && about[kernels[0]].time?.ms;
  const runs = lab.runs.map((run) => (run.ask === 'time' && !timed(run) ? { ...run, ask: undefined, question: undefined } : run));
  return { step, version, compiler, type: type_of(build, lab), runs, counters, kernels: about };
}

// The module of the chapters, in two parts, and that of exercises and the bench: files of the build by the names that the page asks for.
const modules = { lab: { lab: 'lab_first', lab_rest: 'lab_rest' }, bench: { bench: 'bench' } };

// A module, and the worker that runs it.
async function copy_module(build, name, put) {
  const { build: bundle } = await import('esbuild');
  const worker = await bundle({ entryPoints: [join(slides, 'book', 'lab', 'worker.js')], write: false, bundle: true, minify: true, format: 'iife',
    alias: { 'lab-module': join(build, 'slides', `${name}.js`) }, logLevel: 'error' });
  put(`${name}_worker.js`, worker.outputFiles[0].contents);
  for (const [part, file] of Object.entries(modules[name])) put(`${part}.wasm.gz`, packed(readFileSync(join(build, 'slides', `${file}.wasm`))));
}

// Hosts compress scripts and pages, but hardly a file of a kind that they do not know, and not all of them a module.
const packed = (content) => gzipSync(content, { level: 9 });

// Leaves all that the labs load in the folder; what a worker is given is packed. Returns a text that changes with it, or null
// where the build has no labs.
export async function copy_labs(build, folder) {
  const hash = createHash('sha256');
  if (!existsSync(join(build, 'slides', 'lab_first.wasm'))) return null;
  mkdirSync(folder, { recursive: true });
  const put = (name, content) => {
    hash.update(name).update(content);
    writeFileSync(join(folder, name), content);
  };
  for (const name of Object.keys(modules)) await copy_module(build, name, put);
  const put_text = (name, text) => put(`${name}.gz`, packed(text));
  for (const [name, text] of lab_texts(build)) put_text(name, text);
  for (const { name } of exercises()) put_text(`${name}.source.cu`, read(`exercises/${name}/source.cu`));
  return hash.digest('hex').slice(0, 12);
}

// --- in the chapter's text ---

// The kernels of the lab of which a part of a chapter speaks: those whose output or counters it shows.
function spoken_of(lab, part) {
  const names = [...part.matchAll(/variants\/(\w+)\.ptx|<!-- table: counters ([^:]*):/g)].flatMap(([, name, list]) =>
    (name ? [name] : list.match(/\w+(?==)|\w+/g)));
  return lab.runs.filter(({ kernel }) => kernel !== lab.step && names.includes(kernel));
}

// The chapter with its panel at its end, and links to it: below its title, and below each heading of a part that speaks of an
// experiment.
export function with_lab(lab, text) {
  if (!lab) return text;
  const link = (words, query = '') => `[${words}](/chapters/${lab.step}${query}#run-it)`;
  const parts = written_out(text).split(/^(?=## )/m).map((part) => {
    const runs = part.startsWith('## ') ? spoken_of(lab, part) : [];
    const line = `In the lab: ${runs.map(({ words, kernel }) => link(words, `?lab=${kernel}`)).join('; ')}`;
    return runs.length ? part.replace(/^## .*$/m, (heading) => `${heading}\n\n${line}\n`) : part;
  });
  const json = JSON.stringify(lab).replace(/[&'<>{}]/g, (c) => `&#${c.charCodeAt(0)};`);
  return `${parts.join('')}\n\n## Run it, break it {#run-it}\n\n<TheLab :lab='${json}' />\n`;
}
