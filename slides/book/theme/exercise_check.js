// Checks exercises: what was written is compiled, and the exercise's own check asks its questions. What came of it is kept on
// this machine.
import { withBase } from 'vitepress';
import { use_compiler } from './compiler.js';
import { answers_of } from './exercise.js';
import { keep, read_kept } from './kept.js';
import { open_worker } from './lab.js';

const key = (name) => `exercise ${name}`;
export const kept_of = (name) => read_kept(key(name));
export const keep_exercise = (name, value) => keep(key(name), value);

// about: { version, compiler }. tell(words) says what goes on.
export function open_checker(about, tell) {
  const compiler = use_compiler(about.compiler), worker = open_worker(withBase('/labs/'), about.version, () => {}, 'bench');

  // { stub, solution }
  const cuts = async (name) => worker.ask('cut', { source: await worker.text(`${name}.source.cu`) });

  // { errors } or { tests }
  async function ask({ name, arch }, text) {
    tell(compiler.state.loaded ? 'Compiling.' : 'Getting the compiler.');
    const { ptx, files, errors } = await compiler.compile(text, arch);
    if (errors) return { errors };
    tell('Checking.');
    return worker.ask('check', { exercise: name, files: { ...files, 'kernel.ptx': ptx, 'kernel.cu': text } });
  }

  // How many questions the stub passes: asked once for each state of the course.
  async function by_stub(exercise, stub) {
    const known = read_kept('stubs', {}), here = known.version === about.version ? known : { version: about.version };
    if (here[exercise.name] === undefined) {
      here[exercise.name] = answers_of((await ask(exercise, stub)).tests ?? []).passed.length;
      keep('stubs', here);
    }
    return here[exercise.name];
  }

  // { errors } or { tests }; kept: what there is to keep of it.
  async function check(exercise, text) {
    const { errors, tests } = await ask(exercise, text), answers = answers_of(tests ?? []), questions = answers.passed.length + answers.failed.length;
    const points = errors ? 0 : await worker.ask('points', { questions, passed: answers.passed.length, by_stub: await by_stub(exercise, (await cuts(exercise.name)).stub) });
    const kept = { text, checked: text, compiled: !errors, ...answers, points };
    keep_exercise(exercise.name, kept);
    return { errors, tests, kept };
  }

  function stop() {
    compiler.stop();
    worker.stop();
  }
  return { compiler, cuts, check, stop };
}
