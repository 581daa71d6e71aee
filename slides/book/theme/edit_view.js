// The state of a lab's editor: the text, what the compiler says of it, and its runs in the lab's own panel.
import { computed, onMounted, onUnmounted, reactive, watch } from 'vue';
import { megabytes, use_compiler } from './compiler.js';
import { arch_of, changes, errors_as_remarks, findings_as_remarks, nearest } from './edit.js';
import { pack } from './edit_link.js';
import { keep, read_kept } from './kept.js';
import { counted } from './lab.js';

const KEY = 'edits';  // { step: text }

// view: of useLab. begin: a text from a link, or null.
export function useEdit(lab, view, begin) {
  const compiler = use_compiler(lab.compiler), plain = lab.runs[0];
  const state = reactive({ text: '', course: '', errors: [], comparing: false, compiling: false, again: false });

  async function open() {
    state.course = await view.text(`${plain.kernel}.cu`);
    const before = read_kept(KEY, {})[lab.step];
    state.again = !begin && Boolean(before) && before !== state.course;
    state.text = begin?.text ?? before ?? state.course;
  }

  const remember = () => {
    const { [lab.step]: mine, ...others } = read_kept(KEY, {});
    keep(KEY, state.text === state.course ? others : { ...others, [lab.step]: state.text });
  };
  watch(() => state.text, () => {
    state.errors = [];
    remember();
  });

  const remarks = computed(() => {
    const { result, source } = view.shown;
    return state.errors.length || !result?.run.edited || source !== state.text ? errors_as_remarks(state.errors) : findings_as_remarks(result);
  });

  // What is to be loaded before the first run, in words; nothing if all is here.
  const to_load = computed(() => (compiler.state.kept || compiler.state.loaded ? '' : megabytes(lab.compiler.bytes)));

  function tell() {
    const { loaded, kept, done } = compiler.state;
    if (loaded) return 'Compiling.';
    if (kept || done >= lab.compiler.bytes) return 'Getting the compiler ready.';
    return `Loading the compiler: ${megabytes(done)} of ${megabytes(lab.compiler.bytes)}.`;
  }
  watch(() => [compiler.state.done, compiler.state.loaded], () => { if (state.compiling) view.tell(tell()); });

  async function compiled() {
    state.compiling = true;
    view.tell(tell());
    const arch = arch_of(await view.text(`${plain.kernel}.ptx`)), text = state.text;
    const { ptx, files, errors } = await compiler.compile(text, arch).finally(() => { state.compiling = false; });
    if (!errors) return { source: text, files: { ...files, 'kernel.ptx': ptx, 'kernel.cu': text } };
    state.errors = errors;
    throw Object.assign(new Error(`It does not compile: ${counted(errors.length, 'error')}.`), { whole: true });
  }

  // The kernel that was built before, and is nearest: { words, differ, time }; null if none has a time.
  async function nearest_built() {
    const timed = lab.runs.filter(({ kernel }, i, all) => lab.kernels[kernel].time?.ms && all.findIndex((one) => one.kernel === kernel) === i);
    const sources = await Promise.all(timed.map(async ({ kernel }) => [kernel, await view.text(`${kernel}.cu`)]));
    const best = nearest(state.text, sources), run = timed.find(({ kernel }) => kernel === best?.name);
    return run ? { differ: best.differ, words: run.kernel === plain.kernel ? 'the step as it is' : run.words, time: lab.kernels[run.kernel].time } : null;
  }

  async function run() {
    if (view.state.busy) return;
    state.errors = [];
    const edited = { changed: changes(state.course, state.text), time: null, nearest: await nearest_built() };
    await view.run_edited(edited, compiled);
  }

  // The address of this page with the text and the sizes in it.
  async function link() {
    const { m, n, k, alpha, beta } = view.state;
    return `${location.origin}${location.pathname}${await pack({ text: state.text, m, n, k, alpha, beta })}`;
  }

  onMounted(() => {
    compiler.look();
    view.stops.push(compiler.stop);
    return open();
  });
  onUnmounted(() => view.stops.splice(view.stops.indexOf(compiler.stop), 1));
  return { state, remarks, to_load, run, link };
}
