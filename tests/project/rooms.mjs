// The rooms of a source tree, and files that need others against their order.
//
// A folder whose meson.build has a line "foreach room : [...]" has rooms: its folders of these names, in this order. A
// file may need files of its own room and of those before it: by what it includes, and by the symbols that its object
// uses. Files of one name, x.h and x.c, are a unit, and no unit may need itself through others.
//
// Each check returns how many files it looked at, how many includes or symbols, and a line for each thing that is wrong.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';

const text_of = (path) => existsSync(path) ? readFileSync(path, 'utf8') : '';
const unit_of = (file) => file.replace(/\.[^.]*$/, '');
const includes_of = (path) => [...text_of(path).matchAll(/^\s*#\s*include\s*"([^"]*)"/gm)].map((m) => m[1]);

function files_below(root, folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = posix.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : files_below(root, name);
    return entry.isFile() && /\.(c|h|def|cuh)$/.test(name) ? [name] : [];
  });
}

// --- The order ---

function rooms_of(root, folder) {
  const list = /foreach room : \[([^\]]*)\]/.exec(text_of(join(root, folder, 'meson.build')));
  return list ? [...list[1].matchAll(/'([^']*)'/g)].map((m) => m[1]) : [];
}

// The rooms that a file is in, outermost first, as their numbers from 1.
function ranks_of(root, file) {
  const ranks = [], folders = file.split('/').slice(0, -1);
  for (let i = 0; i < folders.length; i++) {
    const rank = rooms_of(root, folders.slice(0, i).join('/')).indexOf(folders[i]) + 1;
    if (!rank) break;
    ranks.push(rank);
  }
  return ranks;
}

function goes_against(root, { from, to }) {
  const a = ranks_of(root, from), b = ranks_of(root, to);
  const i = a.findIndex((rank, at) => rank !== b[at]);
  return i >= 0 && b[i] > a[i];
}

// The edges of a way from a unit to itself or to one that is being looked at, the last one first.
function find_cycle(unit, edges, state) {
  state.set(unit, 'begun');
  for (const edge of edges.get(unit) ?? []) {
    const before = state.get(edge.to);
    const rest = before === 'begun' ? [] : before ? null : find_cycle(edge.to, edges, state);
    if (rest) return [...rest, edge];
  }
  state.set(unit, 'done');
  return null;
}

// An edge: the unit `from` needs the unit `to`, because `why`.
function judge(root, edges) {
  const wrong = edges.filter((edge) => goes_against(root, edge)).map((edge) => `${edge.why}, of a later room`);
  const by_unit = new Map(), state = new Map();
  for (const edge of edges)
    if (edge.from !== edge.to) by_unit.set(edge.from, [...by_unit.get(edge.from) ?? [], edge]);
  for (const unit of by_unit.keys()) {
    const cycle = state.has(unit) ? null : find_cycle(unit, by_unit, state);
    if (cycle) return [...wrong, `a cycle: ${cycle.map((edge) => edge.why).join('; ')}`];
  }
  return wrong;
}

// A room says in the first line of its meson.build what it is for.
function without_head(root, folder = '') {
  return rooms_of(root, folder).map((room) => posix.join(folder, room)).flatMap((room) => {
    const said = text_of(join(root, room, 'meson.build')).startsWith('# ');
    return [...(said ? [] : [`${room}: its meson.build does not begin with a comment that says what the room is for`]),
      ...without_head(root, room)];
  });
}

// --- Includes ---

// What .c, .h, .def and .cuh files include; root is also where includes of other rooms begin.
export function check_includes(root) {
  const files = files_below(root), edges = [], wrong = [];
  for (const file of files)
    for (const what of includes_of(join(root, file))) {
      const found = [posix.join(posix.dirname(file), what), what].find((name) => files.includes(name));
      if (found) edges.push({ from: unit_of(file), to: unit_of(found), why: `${file} includes ${found}` });
      else wrong.push(`${file} includes "${what}", which is neither beside it nor below the root`);
    }
  return { files: files.length, includes: edges.length, wrong: [...wrong, ...judge(root, edges), ...without_head(root)] };
}

// --- Symbols ---

// The objects of files below the root that the build has made: the source of each.
function objects_of(root, build) {
  const sources = new Map();
  for (const { file, output } of JSON.parse(text_of(join(build, 'compile_commands.json')))) {
    const path = resolve(build, file);
    const source = existsSync(path) && existsSync(join(build, output)) ? relative(root, realpathSync(path)) : '..';
    if (!source.startsWith('..')) sources.set(output, source);
  }
  return sources;
}

// Which symbols the objects of these files use that others define.
export function check_symbols(folder, build) {
  const root = realpathSync(folder), sources = objects_of(root, build);
  const said = execFileSync('nm', ['-A', '-P', ...sources.keys()], { cwd: build, encoding: 'utf8', maxBuffer: 1 << 28 });
  const symbols = [...said.matchAll(/^([^:]*): (\S+) ([A-Z])/gm)].map(([, object, name, type]) =>
    ({ file: sources.get(object), name, is_defined: type !== 'U' }));
  const defined_in = new Map(symbols.filter((s) => s.is_defined).map((s) => [s.name, s.file]));
  const used = symbols.filter((s) => !s.is_defined && defined_in.has(s.name));
  const edges = used.map(({ file, name }) => {
    const to = defined_in.get(name);
    return { from: unit_of(file), to: unit_of(to), why: `${file} uses ${name} of ${to}` };
  });
  return { files: sources.size, symbols: used.length, wrong: judge(root, edges) };
}

// --- The door of a room ---

// Whether all of the project includes nothing of the room ("common/simt") but its door ("simt.h"). Only its own files
// and the tests of its rooms (tests/clock of common/simt/clock) may know more of it.
export function check_door(sources, room, door) {
  const name = posix.basename(room), wrong = [], own = rooms_of(sources, room).map((inner) => `tests/${inner}/`);
  const files = ['common', 'exercises', 'slides', 'steps', 'tests'].filter((folder) => existsSync(join(sources, folder)))
    .flatMap((folder) => files_below(sources, folder));
  let includes = 0;
  for (const file of files.filter((file) => ![`${room}/`, ...own].some((folder) => file.startsWith(folder))))
    for (const what of includes_of(join(sources, file))) {
      const past = `/${what}`.split(`/${name}/`)[1];
      includes++;
      if (past && past !== door) wrong.push(`${file} includes ${what}: only ${name}/${door} is for others`);
    }
  return { files: files.length, includes, wrong };
}
