// The state of a lab's editor: the text, what the compiler says of it, and its runs in the lab's own panel.
import { computed, onMounted, onUnmounted, reactive, watch } from 'vue';
import { megabytes, use_compiler } from './compiler.js';
import { arch_of, changes, errors_as_remarks, findings_as_remarks, nearest } from './edit.js';
import { pack } from './edit_link.js';
import { keep, read_kept } from './kept.js';
import { counted } from './lab.js';

const KEY = 'edits', MOST = 5;  // { step: texts that were written, at most MOST, the last first }

// view: of useLab. begin: a text from a link, or null.
export function useEdit(lab, view, begin) {
  const compiler = use_compiler(lab.compiler), plain = lab.runs[0];
  // given: the text as it came, from a link, from this machine or from the course, until it is written in; at: which of mine it is.
  const state = reactive({ text: '', given: '', from: 'course', course: '', mine: [], at: -1, errors: [], compiling: false });

  const place = (text, from, at = -1) => Object.assign(state, { text, given: text, from, at });
  const back_to_course = () => place(state.course, 'course');
  const to_link = () => place(begin.text, 'link');

  // Those of mine behind the one that is open, and then those before it: where the button for one's own texts leads.
  const others = computed(() => [...state.mine.keys()].map((i) => (state.at + 1 + i) % state.mine.length).filter((i) => state.mine[i] !== state.text));
  const back_to_mine = () => place(state.mine[others.value[0]], 'mine', others.value[0]);

  async function open() {
    state.course = await view.text(`${plain.kernel}.cu`);
    state.mine = [read_kept(KEY, {})[lab.step] ?? []].flat().filter((text) => text !== state.course);
    if (begin) to_link();
    else if (state.mine.length) back_to_mine();
    else back_to_course();
  }

  // What came from elsewhere is kept once it is written in, and then beside what was written before.
  watch(() => state.text, (text) => {
    state.errors = [];
    view.state.text = text;
    if (text === state.given) return;
    if (state.given !== null) prepare(state.given);
    state.given = null;
    if (state.at < 0) Object.assign(state, { mine: [text, ...state.mine].slice(0, MOST), at: 0 });
    else state.mine[state.at] = text;
    keep(KEY, { ...read_kept(KEY, {}), [lab.step]: [...state.mine] });
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

  const arch = async () => arch_of(await view.text(`${plain.kernel}.ptx`));
  const prepare = (text) => arch().then((known) => compiler.prepare(text, known), () => {});

  async function compiled() {
    state.compiling = true;
    view.tell(tell());
    const known = await arch(), text = state.text;
    const { ptx, files, errors } = await compiler.compile(text, known).finally(() => { state.compiling = false; });
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
  onUnmounted(() => {
    view.stops.splice(view.stops.indexOf(compiler.stop), 1);
    view.state.text = null;
  });
  return { state, others, remarks, to_load, run, link, back_to_course, back_to_mine, to_link };
}
