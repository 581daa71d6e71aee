// The state of a lab: which run is chosen, what is running, what came of it and of the run before, and what was predicted.
import { withBase } from 'vitepress';
import { computed, onUnmounted, reactive, shallowReactive } from 'vue';
import { type_of } from './edit.js';
import { near, open_worker, predictions, remember, speed_of, speeds, verdict_of, verdicts, grouped } from './lab.js';

const sizes_of = ({ m, n, k, alpha, beta, entry, number }) => ({ m, n, k, alpha, beta, entry, number });
const same = (a, b) => !a?.edited && Object.entries({ kernel: b.kernel, ...sizes_of(b) }).every(([name, value]) => a?.[name] === value);

export function useLab(lab) {
  const plain = lab.runs[0];
  const state = reactive({ opened: false, busy: false, chosen: 0, asking: false, told: '', wrong: '', text: null, comparing: false, ...sizes_of(plain) });  // text: in the open editor; comparing: with the course's
  const shown = shallowReactive({ result: null, before: null, source: '', source_before: '' });
  const said = reactive(predictions());
  const run = computed(() => lab.runs[state.chosen]);
  const key = ({ id }) => `${lab.step}/${id}`;
  let worker = null, turn = 0;  // turn: of the run that counts; what an older one says is dropped

  function blocks(done, all) {
    if (state.busy) state.told = done < all ? `Running: ${grouped(done)} of ${grouped(all)} blocks.` : 'Checking C, and looking for the cause.';
  }

  function open() {
    worker ??= open_worker(withBase('/labs/'), lab.version, blocks);
    state.opened = true;
  }

  // Everything else that this lab can run is fetched behind the first result: from then on it needs no network.
  async function fetch_rest() {
    for (const kernel of Object.keys(lab.kernels)) await files_of(kernel).catch(() => {});
  }

  async function files_of(kernel) {
    const names = [`${kernel}.ptx`, `${kernel}.cu`, ...lab.kernels[kernel].headers];
    const [ptx, source, ...headers] = await Promise.all(names.map(worker.text));
    const rest = Object.fromEntries(lab.kernels[kernel].headers.map((name, i) => [name, headers[i]]));
    return { source, files: { 'kernel.ptx': ptx, 'kernel.cu': source, ...rest } };
  }

  // files_to_run() gives { source, files }.
  async function execute(what, files_to_run = () => files_of(what.kernel)) {
    const first = !shown.result, mine = ++turn;
    Object.assign(state, { busy: true, told: 'Loading the kernel.', wrong: '' });
    try {
      const { source, files } = await files_to_run(), course = await worker.text(`${plain.kernel}.cu`);
      if (mine !== turn) return false;
      state.told = 'Running.';
      const result = await worker.ask('run', { ptx: 'kernel.ptx', files: { ...files, 'course.cu': course }, type: type_of(files['kernel.ptx'], lab.type), ...sizes_of(what) });
      if (mine !== turn) return false;
      Object.assign(shown, { before: shown.result, source_before: shown.source, source, result: { ...result, run: what } });
      state.told = '';
      if (first) fetch_rest();
      return true;
    } catch (error) {
      if (mine !== turn) return false;
      state.told = '';
      state.wrong = error.message === 'stopped' ? 'Stopped.' : error.whole ? error.message : `This could not be run: ${error.message}.`;
      return false;
    } finally {
      if (mine === turn) state.busy = false;
    }
  }

  // An experiment is shown beside the step as it is, at the same size; an experiment with the step itself, beside its own; a
  // launch beside that with stride 1.
  const beside = (one) => (one.entry ? { ...one, number: 1 } : one.kernel === plain.kernel ? plain : { ...plain, ...sizes_of(one) });

  // A link may lead elsewhere while something runs.
  function leave() {
    if (!state.busy) return;
    turn++;
    stop();
    Object.assign(state, { busy: false, told: '' });
  }

  async function choose(i) {
    const one = lab.runs[i];
    leave();
    open();
    Object.assign(state, { chosen: i, asking: Boolean(one.ask && !said[key(one)]), wrong: '', ...sizes_of(one) });
    if (!same(shown.result?.run, beside(one)) && !await execute(beside(one))) return;
    if (state.chosen === i && i > 0 && !state.asking) await execute(one);
  }

  // What the chosen experiment's question has for an answer: { text, right(said) }; to be asked behind its run.
  function answer() {
    const { ask, kernel } = run.value;
    if (ask === 'verdict') {
      const is = verdict_of(shown.result);
      return { text: verdicts[is], right: (guess) => guess === is };
    }
    if (ask === 'time') {
      const is = speed_of(lab.kernels[kernel].time, lab.kernels[plain.kernel].time);
      return { text: speeds[is], right: (guess) => guess === is };
    }
    const is = shown.result.metrics?.[lab.counters[ask].name] ?? 0;
    return { text: grouped(is), right: (guess) => near(guess, is) };
  }

  async function predict(guess) {
    const one = run.value;
    state.asking = false;
    if (!await execute(one) || run.value !== one) return;
    const { text, right } = answer();
    if (guess === null) return;
    said[key(one)] = { said: guess, right: right(guess), is: text };
    remember({ ...said });
  }

  // The kernel that the reader wrote; edited: what there is to know of it beside the kernels of the lab.
  const run_edited = (edited, files) => execute({ ...run.value, ...sizes_of(state), kernel: plain.kernel, edited }, files);
  const again = () => execute({ ...run.value, ...sizes_of(state) });
  const forget = () => {
    for (const name of Object.keys(said)) delete said[name];
    remember({});
  };
  const ask = (call, args) => worker.ask(call, args);
  const text = (name) => worker.text(name), tell = (words) => { state.told = words; };
  const stops = [() => worker?.stop()], stop = () => stops.forEach((one) => one());
  onUnmounted(stop);
  return { state, shown, run, said, key, plain, open, choose, predict, again, run_edited, forget, ask, text, tell, stops, stop };
}
