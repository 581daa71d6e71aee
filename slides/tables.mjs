// Tables: of counters, of times, of the steps.
import { grouped, percent, rate, signed, time } from './numbers.mjs';
import { parts } from './programs.mjs';
import { fail, step_name } from './project.mjs';
import { measured, metric, result, spilled, worth } from './results.mjs';
import { simulated } from './sources.mjs';

function table(heads, rows, right) {
  const rule = heads.map((_, i) => (i && right ? '---:' : '---'));
  return [heads, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

// --- counters ---

// "kernel", "kernel@h200" for the counters of a GPU, each with ="heading" or without.
function column(text, build) {
  const [, kernel, gpu, heading] = text.match(/^(\w+)(@h200)?(?:="([^"]*)")?$/) ?? fail(`what is ${text}?`);
  return { heading: heading ?? step_name(kernel) + (gpu ? ', H200' : ''), alone: heading ?? 'value',
    value: (short) => (gpu ? of_the_card(build, kernel, short) : grouped(simulated(build, kernel, short))) };
}

function of_the_card(build, kernel, short) {
  const { text, size } = measured(build, kernel, short);
  return size === 256 ? grouped(text) : fail(`${short} was not read at 256 x 256 x 256`);
}

function counters(args, build, first, label) {
  const [kernels, shorts] = args.split(' : ');
  const columns = kernels.match(/[^\s"]+(?:"[^"]*")?/g).map((text) => column(text, build));
  const rows = (shorts ?? fail('" : " and the counters are missing')).split(' ')
    .map((short) => [label(metric(short)), ...columns.map((c) => c.value(short))]);
  return { heads: [first, ...columns.map((c) => c.heading)], columns, rows };
}

// --- times ---

function gain(build, step, before, size) {
  const [now, then] = [result(build, step, size), before && result(build, before, size)];
  return then && then.type === now.type ? `x ${(then.ms / now.ms).toFixed(2)}` : '-';
}

// The nearest step above row i that multiplies the same type: 02_smem_tile_double stands between two others.
const above = (build, size, steps, i) => steps.slice(0, i).findLast((s) => result(build, s, size).type === result(build, steps[i], size).type);

const share = (r) => percent(r.tflops / r.baseline_tflops).text;

const tables = {
  counters(args, build) {
    const { heads, rows } = counters(args, build, 'at 256 x 256 x 256', ({ label }) => label);
    return table(heads, rows, true);
  },
  // The same under the names in Nsight Compute.
  ncu(args, build) {
    const { heads, columns, rows } = counters(args, build, 'counter', ({ name }) => `\`${name}\``);
    return table([heads[0], columns[0].alone, ...heads.slice(2)], rows, true);
  },
  metrics(args) {
    const row = (short) => [metric(short).label, `\`${metric(short).name}\``];
    return table(['in the decks', 'in Nsight Compute'], args.split(' ').map(row));
  },
  times(args, build) {
    const [step, ...sizes] = args.split(' ');
    const rows = sizes.map((size) => {
      const r = result(build, step, size);
      return [size, time(r.ms), rate(r.tflops), rate(r.baseline_tflops), share(r)];
    });
    return table(['size', 'time', 'TFLOP/s', 'cuBLAS', 'of cuBLAS'], rows, true);
  },
  // SIZE KERNEL="what it is" ...: beside the first
  worth(args, build) {
    const [, size, list] = args.match(/^(\d+) (.*)$/) ?? fail('a size and the kernels are missing');
    const kernels = [...list.matchAll(/(\w+)="([^"]*)"/g)], [, first] = kernels[0];
    const rows = kernels.map(([, kernel, words]) => {
      const bytes = spilled(build, kernel);
      return [words + (bytes ? ` (spills ${bytes} bytes)` : ''), rate(worth(build, kernel, size)),
        kernel === first ? '-' : `x ${worth(build, kernel, size, first).toFixed(2)}`];
    });
    return table([`at ${size}, timed in turn`, 'TFLOP/s', 'row 1'], rows, true);
  },
  // STEP [SIZE]: what each part of the step has of its gain
  parts(args, build) {
    const [step, size = '4096'] = args.split(' '), name = step_name(step);
    const { factor, rest, rest_name, parts: all } = parts(build, size).find((row) => row.step === name) ?? fail(`${name} has no times at ${size}`);
    const gain = (times) => (times ? signed(times) : '-');
    const rows = all.map(({ part, share, alone, left_out }) => [part, gain(share), gain(alone), gain(left_out)]);
    if (!factor) fail(`${name} has no step before it that multiplies the same type`);
    return table([`parts of x ${factor.toFixed(2)}`, 'share', 'alone', 'left out'],
      [...rows, [rest_name, gain(rest), '-', '-']], true);
  },
  steps(args, build) {
    const [size, ...steps] = args.split(' ');
    const rows = steps.map((step, i) => {
      const r = result(build, step, size);
      return [step_name(step), time(r.ms), rate(r.tflops), gain(build, step, above(build, size, steps, i), size), share(r)];
    });
    return table([`at ${size}`, 'time', 'TFLOP/s', 'row above', 'of cuBLAS'], rows, true);
  },
};

export function made_table(text, build) {
  const [what, ...args] = text.split(' ');
  return (tables[what] ?? fail(`there are no tables of "${what}"`))(args.join(' '), build);
}
