// The exercises and the bench in the page: what their components are told, and where they stand in a text.
import { read } from '../project.mjs';

// [{ name, title, arch }], in the order of the course.
export function exercises() {
  const rows = read('exercises/meson.build').matchAll(/^ {2}\['(\d\d\w+)', 'compute_(\w+)'\],$/gm);
  return [...rows].map(([, name, arch]) => ({ name, arch: `sm_${arch}`, title: read(`exercises/${name}/TASK.md`).match(/^# \w+ (.*)$/m)[1] }));
}

const as_prop = (value) => JSON.stringify(value).replace(/[&'<>{}]/g, (c) => `&#${c.charCodeAt(0)};`);

// A task speaks of the file and of the terminal; on a page that has an editor it comes first.
const here_first = (text) => text
  .replace('The file to edit is [kernel.cu](kernel.cu) in this folder.', 'The file to edit opens [on this page](#write-it). In a copy of the course it is [kernel.cu](kernel.cu) in the folder of the exercise.')
  .replace(/^## The file to edit$/m, '## What it begins with')
  .replace(/^## Check\n\n(?=```sh)/m, (heading) => `${heading}The button Check [on this page](#write-it) does it. In a terminal it is:\n\n`);

// A page of the book with the component that belongs to it. about: { version, compiler }; compiler null: the build has none.
export function with_exercise({ url }, text, about) {
  const [, name] = url.match(/^exercises\/(\d\d\w+)$/) ?? [], all = exercises();
  if (!about.compiler || !(name || url === 'exercises/index')) return text;
  if (!name) return text.replace(/^# .*$/m, (title) => `${title}\n\n<TheProgress :about='${as_prop({ ...about, exercises: all })}' />\n`);
  const exercise = { ...about, ...all.find((one) => one.name === name), next: all[all.findIndex((one) => one.name === name) + 1]?.name };
  return here_first(text).replace(/^# .*$/m, (title) => `${title}\n\n[Write and check it on this page](#write-it)\n`)
    .replace(/^## Hints$/m, (hints) => `## Write it here {#write-it}\n\n<TheExercise :exercise='${as_prop(exercise)}' />\n\n${hints}`);
}

// The bench has a page of its own where the build has a compiler.
export function bench_pages(about) {
  const text = () => `# The bench

Any CUDA kernel, compiled and run in this page: on the simulated GPU, under all checks, with its counters by line and its pictures.
The line below it is that of [\`simt run\`](/simt), without \`simt run kernel.ptx\`: a kernel, how many blocks and threads, and its arguments.
Nothing leaves your machine.

<TheBench :about='${as_prop(about)}' />
`;
  return about.compiler ? [{ url: 'bench', title: 'The bench', text }] : [];
}
