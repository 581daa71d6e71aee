// Two accesses that meet, in the order of time: who, where, to which bytes, and what of barriers and waits lies between them.
import { parse } from './expression.js';

const AT = 3, BARRIER = 4;  // enum watch_stop
const MOST = 64;            // executions, and barriers, that are looked at

// --- the element of an array that a byte belongs to ---

// The numbers that a kernel names: constexpr int BM = 128, BN = 2 * BM.
function constants_of(source) {
  const names = {};
  for (const [, list] of source.matchAll(/\bconstexpr\s+(?:unsigned\s+)?(?:int|unsigned|size_t)\s+([^;]+);/g))
    for (const [, name, value] of list.matchAll(/(\w+)\s*=\s*([^,]+)/g))
      try {
        names[name] = parse(value)(names);
      } catch { /* it is made of something else: what needs it has no value either */ }
  return names;
}

// "Bs[1][0][3]"; null where the source does not say how the array is laid out. object: of a finding.
export function element_of(source, { space, name, at, bytes }) {
  const dims = space === 'shared' && name && source.match(new RegExp(`__shared__[^;]*\\b${name}((?:\\s*\\[[^\\]]+\\])+)`))?.[1];
  if (!dims || at < 0 || at >= bytes) return null;
  try {
    const names = constants_of(source), sizes = [...dims.matchAll(/\[([^\]]+)\]/g)].map(([, text]) => parse(text)(names));
    const size = bytes / sizes.reduce((all, n) => all * n, 1);
    if (![1, 2, 4, 8, 16].includes(size)) return null;
    let rest = Math.floor(at / size);
    return name + sizes.reverse().map((n) => { const i = rest % n; rest = Math.floor(rest / n); return `[${i}]`; }).reverse().join('');
  } catch {
    return null;
  }
}

const bytes_of = (source, { object, bytes }) => {
  if (!object) return '';
  const what = `${bytes > 1 ? `bytes ${object.at} to ${object.at + bytes - 1}` : `byte ${object.at}`} of ${object.name ?? `${object.space} memory`}`;
  const element = element_of(source, object);
  return element ? `${element}, ${what}` : what;
};

// --- its two ends ---

const does = { read: 'reads', write: 'writes', change: 'changes', compare: 'compares' };

// The execution that touched the byte: an instruction in a loop goes on to others before the race is found.
async function touching(ask, { moment, warp, lane, instruction }, byte) {
  for (let i = 0, at = moment; at >= 0 && i < MOST; i++) {
    const { operands } = await ask('look', { moment: at }), places = operands.find(({ role, shared }) => role === 'address' && shared)?.shared;
    if (!places || (byte >= places[lane] && byte < places[lane] + 16)) return at;
    at = await ask('next', { from: at, stop: AT, back: true, warp, number: instruction });
  }
  return moment;
}

// At which lines a warp comes to a barrier or a wait between two moments.
async function stops_of(ask, warp, from, to) {
  const lines = new Set();
  for (let i = 0, at = from; i < MOST; i++) {
    at = await ask('next', { from: at, stop: BARRIER, back: false, warp });
    if (at < 0 || at >= to) break;
    lines.add(await ask('line', { moment: at }));
  }
  return { warp, lines: [...lines] };
}

// finding: of a result; sides: what the watch says of it. { ends: [{ warp, lane, thread, does, by, place, line, moment }], between:
// [{ warp, lines }], null where it is not known, bytes }.
export async function race_of(ask, finding, sides, source) {
  const { object } = finding, byte = object?.space === 'shared' ? object.address : -1;
  const ends = await Promise.all([finding.here, finding.there].map(async (of, i) => ({ ...sides[i], line: of.caller || of.line, inside: of.caller ? of : null,
    thread: of.thread, block: of.block, does: does[of.access], by: of.by === 'thread' ? '' : of.by,
    moment: byte >= 0 && of.by !== 'bulk copy' ? await touching(ask, sides[i], byte) : sides[i].moment })));
  const known = ends.every(({ moment }) => moment >= 0) && ends[0].moment !== ends[1].moment;
  if (!known || ends[1].moment < ends[0].moment) ends.reverse();  // what a finding says of the other side is past
  const warps = [...new Set(ends.map(({ warp }) => warp))];
  const between = known ? await Promise.all(warps.map((warp) => stops_of(ask, warp, ends[0].moment, ends[1].moment))) : null;
  return { kind: finding.kind, ends, between, bytes: bytes_of(source, finding) };
}
