// The exercises and the bench in the page: what their components are told, and where they stand in a text.
import { read } from '../project.mjs';

// [{ name, title, arch }], in the order of the course.
export function exercises() {
  const rows = read('exercises/meson.build').matchAll(/^ {2}\['(\d\d\w+)', 'compute_(\w+)'\],$/gm);
  return [...rows].map(([, name, arch]) => ({ name, arch: `sm_${arch}`, title: read(`exercises/${name}/TASK.md`).match(/^# \w+ (.*)$/m)[1] }));
}

const as_prop = (value) => JSON.stringify(value).replace(/[&'<>{}]/g, (c) => `&#${c.charCodeAt(0)};`);

// A page of the book with the component that belongs to it. about: { version, compiler }; compiler null: the build has none.
export function with_exercise({ url }, text, about) {
  const [, name] = url.match(/^exercises\/(\d\d\w+)$/) ?? [], all = exercises();
  if (!about.compiler || !(name || url === 'exercises/index')) return text;
  if (!name) return text.replace(/^# .*$/m, (title) => `${title}\n\n<TheProgress :about='${as_prop({ ...about, exercises: all })}' />\n`);
  const exercise = { ...about, ...all.find((one) => one.name === name), next: all[all.findIndex((one) => one.name === name) + 1]?.name };
  return text.replace(/^# .*$/m, (title) => `${title}\n\n[Write and check it on this page](#write-it)\n`)
    .replace(/^## Hints$/m, (hints) => `## Write it here {#write-it}\n\n<TheExercise :exercise='${as_prop(exercise)}' />\n\n${hints}`);
}
