// What a watched warp shows: values of registers by their type, as a lane has them.

const word = new DataView(new ArrayBuffer(8));
const bits = (text) => (word.setBigUint64(0, BigInt(text)), word);
const short = (x) => (Number.isInteger(x) && Math.abs(x) < 1e7 ? String(x) : x.toPrecision(5));
const UNWRITTEN = 0xcbcbcbcb;  // DEV_UNWRITTEN: what memory and registers hold before anything is written

function half(h) {
  const e = h >> 10 & 31, f = h & 1023, x = e === 0 ? f * 2 ** -24 : e === 31 ? (f ? NaN : Infinity) : (1024 + f) * 2 ** (e - 25);
  return h & 0x8000 ? -x : x;
}

const brain = (h) => (word.setUint32(4, h << 16), word.getFloat32(4));

// halves: 32 bits without a type are two of them. { text, unwritten }.
export function shown(value, type, halves) {
  const view = bits(value), low = view.getUint32(4);
  if (type === 'pred') return { text: value === '0' ? 'no' : 'yes' };
  if (low === UNWRITTEN) return { text: 'unwritten', unwritten: true };
  if (type === 'f32') return { text: short(view.getFloat32(4)) };
  if (type === 'f64') return { text: short(view.getFloat64(0)) };
  if (/64$/.test(type)) return { text: `0x${BigInt(value).toString(16)}` };
  if (type === 'tf32') return { text: short(view.getFloat32(4)) };
  const of = type.startsWith('bf16') ? brain : half, [first, second] = [low & 0xffff, low >>> 16].map((h) => () => short(of(h)));
  if (/f16$/.test(type)) return { text: first() };
  if (/f16x2$/.test(type) || (type === 'b32' && halves)) return { text: `${first()} ${second()}` };
  return { text: String(/^s/.test(type) ? view.getInt32(4) : low) };
}

// Where bytes of shared memory lie, as findings say it: the variable that has all of them, and what is subtracted from each;
// with no such variable, shared memory as a whole. variables: [{ name, at, bytes }].
export function variable_of(variables, places) {
  const found = variables.find(({ at, bytes }) => places.every((place) => place >= at && place - at < bytes));
  return found ?? { name: 'shared memory', at: 0 };
}

// Why warps wait, each reason with how far it stands to the right: what explains it stands behind it.
export function reasons_of(list) {
  const depth = (i) => (list[i].of === i ? 0 : 1 + depth(list[i].of));
  return list.map((reason, i) => ({ ...reason, depth: depth(i) }));
}

export const lanes_of = (mask) => [...Array(32).keys()].filter((lane) => mask >>> lane & 1);

// "0 to 3, 8": which ones, in few words.
export function listed(numbers) {
  const parts = [];
  for (const n of numbers) {
    const last = parts.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(', ');
}

// Mbarriers that stand alike, in one line: [{ names, text }].
export function mbarriers_of(mbarriers) {
  const alike = new Map();
  for (const { name, phase, pending, expected, bytes } of mbarriers) {
    const text = `phase ${phase % 2}, ${pending} of ${expected} arrivals ${pending === 1 ? 'is' : 'are'} missing${bytes ? `, and ${bytes.toLocaleString('en')} bytes` : ''}`;
    alike.set(text, [...alike.get(text) ?? [], name]);
  }
  return [...alike].map(([text, names]) => ({ text, names: names.join(', ') }));
}

// Barriers have numbers; __syncthreads is number 0.
export const barrier_name = (number) => (number === 0 ? '__syncthreads (barrier 0)' : `barrier ${number}`);

// Warps of which the same is said, in one line: [{ warps, many, text }]; those of which nothing is said are left out.
function alike(warps, words) {
  const all = new Map();
  warps.forEach((one, warp) => {
    const text = words(one);
    if (text) all.set(text, [...all.get(text) ?? [], warp]);
  });
  return [...all].map(([text, list]) => ({ warps: listed(list), many: list.length > 1, text }));
}

const every = (lanes) => lanes === 0xffffffff || lanes === -1;

// What warps have open: groups of copies, and products of wgmma.
export const open_of = (warps) => alike(warps, ({ open, products }) => [
  ...open.map(({ lanes, text }) => (every(lanes) ? text : `lane${lanes & (lanes - 1) ? 's' : ''} ${listed(lanes_of(lanes))}: ${text}`)),
  ...(products ? [`${products} product${products === 1 ? '' : 's'} of wgmma on the way`] : [])].join('; '));

// Where warps stand.
export const standing_of = (warps) => alike(warps, ({ ended, groups, waits }) => {
  const where = waits ? `waiting for ${waits.name}, phase ${waits.parity}, line ${groups[0]?.line}`
    : groups.map(({ lanes, line, standing, barrier }) => {
      const who = every(lanes) ? '' : `lanes ${listed(lanes_of(lanes))} `;
      return who + (standing === 'barrier' ? `at ${barrier_name(barrier)}, line ${line}` : standing === 'runs' ? `running, line ${line}`
        : standing === 'lanes' ? `waiting for lanes, line ${line}` : `waiting for the cluster, line ${line}`);
    }).join('; ');
  return where || (ended ? 'ended' : 'not begun');
});
