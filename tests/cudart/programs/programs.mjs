// Programs of public repositories on the simulated GPU, as programs.csv lists them:
//
//   node programs.mjs SIMT FOLDER run [PROGRAM...]     runs those, or all that have no result; fills in programs.csv
//   node programs.mjs SIMT FOLDER totals [TEXT]        counts what programs.csv has; status 1: TEXT does not quote that
//
// SIMT is the program simt of a build with the CUDA runtime. Nothing here builds the code of others: FOLDER is made by hand. Its
// folder bin has the programs, built by `simt nvcc -w -O2`. Each has the name that the table gives it, with dots for / and _ for blanks, and
// + at the end if its source was changed as the column `edit` says (a script of sed). One that reads files of its own runs in
// the folder cwd/NAME of FOLDER. Each runs by itself under `simt exec check --jobs 1`, or without check if LOOK=run is in the environment,
// for at most LIMIT seconds of a processor (300 if it is not there) and 10 GB of memory.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [simt, folder] = process.argv.slice(2, 4).map((path) => resolve(path)), table = join(dirname(fileURLToPath(import.meta.url)), 'programs.csv');

// --- Which programs: the rule of each repository, written before any of its programs was built ---

// From cuda_programming on, where nothing else is said: files .cu with a main that launch something, and use none of cuFFT, cuSPARSE, cuSOLVER, NCCL, NVML, cuDNN, MPI,
// NVTX, OpenCV, NPP, SDL, libwb, FreeImage, PyTorch, OpenGL and texture references; in alphabetical order of their paths all or
// every n-th from the first.
const collections = {
  // https://github.com/zjin-lcf/HeCBench: in alphabetical order the first 172 folders, and every sixth behind them, src/*-cuda of at most four sources, whose
  // other files are notes and Makefiles, which use no library but the runtime, CUB and thrust, no texture and no file of another
  // folder, and are run with numbers alone.
  HeCBench: 'HeCBench',
  // https://github.com/NVIDIA/cuda-samples: of the folders 0 to 6 of Samples all that use no texture, graphics, dynamic parallelism,
  // driver's API, MPI, OpenMP or library.
  'cuda-samples': 'cuda-samples',
  // https://github.com/yuhc/gpu-rodinia: of the folder cuda all that use no texture and are run without a file of data.
  'gpu-rodinia': 'Rodinia',
  // https://github.com/R100001/Programming-Massively-Parallel-Processors: all solutions of the book's labs.
  'Programming-Massively-Parallel-Processors': 'PMPP labs',
  // https://github.com/sgrauerg/polybenchGpu: of the folder CUDA the first twelve.
  polybenchGpu: 'polybenchGpu',
  // https://github.com/NVIDIA-developer-blog/code-samples: all files .cu with a main that use no library, MPI, texture or dynamic parallelism.
  'code-samples': 'NVIDIA\'s blog',
  // https://github.com/CodedK/CUDA-by-Example-source-code-for-the-book-s-examples-: all that launch a kernel and open no window.
  'CUDA-by-Example': 'CUDA by Example',
  // https://github.com/deeperlearning/professional-cuda-c-programming: of the folder examples every second of those that use no library, OpenMP, OpenACC
  // or dynamic parallelism and are given no file.
  'professional-cuda-c-programming': 'Professional CUDA C',
  // https://github.com/brucefan1983/CUDA-Programming: every second of the files .cu with a main and a kernel that use no library.
  'CUDA-Programming': 'CUDA-Programming',
  // https://github.com/karpathy/llm.c: of the folder dev/cuda the first in alphabetical order, and every third from the fourth on.
  'llm.c': 'llm.c',
  // https://github.com/vetter/shoc: of src/cuda the first five benchmarks of level 1 that use no texture and src/cuda/common/main.cpp.
  shoc: 'SHOC',
  // https://github.com/abduld/Parboil: of benchmarks all with a folder src/cuda and no texture reference, which CUDA 13 does not compile. The data
  // are those of data.mjs, since the repository has none.
  Parboil: 'Parboil',
  // https://github.com/utcs-scea/altis: all of src/cuda but yolo, which needs a network's weights, as far as the time went, with
  // cudaMemAdvise and cudaMemPrefetchAsync as CUDA 12 had them.
  altis: 'Altis',
  // https://github.com/olcf/cuda-training-series: the solutions of all exercises.
  'cuda-training-series': 'Oak Ridge\'s training',
  // https://github.com/HyuckHan/gpu-programming: the all labs of a course.
  HyuckHan: 'Labs of a course',
  // https://github.com/iktovr/GPU-Programming: a student's solutions that read text, and the programs that try their parts.
  iktovr: 'A student\'s labs',
  // https://github.com/CoffeeBeforeArch/cuda_programming: all
  cuda_programming: 'A course in videos',
  // https://github.com/PacktPublishing/Learn-CUDA-Programming: every third
  'Learn-CUDA-Programming': 'Learn CUDA Programming',
  // https://github.com/roryck/CUDA-Exercises: all
  'CUDA-Exercises': 'Exercises',
  // https://github.com/BasmaElhoseny01/GPU-Architecture-Parallel-Computing-CUDA-Course-Labs: every second
  'GPU-Architecture-Parallel-Computing-CUDA-Course-Labs': 'Another student\'s labs',
  // https://github.com/eegkno/CUDA_by_practice: every fifth
  CUDA_by_practice: 'CUDA by practice',
  // https://github.com/1y33/100Days: every fourth
  '100Days': 'Kernels of 100 days',
  // https://github.com/rajat2004/gpu-programming: every tenth
  rajat2004: 'Programs of a lecture',
  // https://github.com/CisMine/Parallel-Computing-Cuda-C: all
  'Parallel-Computing-Cuda-C': 'A tutorial',
  // https://github.com/RichardAns/CUDA-Programs: every fourth
  'CUDA-Programs': 'Programming in Parallel',
  // https://github.com/NVIDIA/CUDALibrarySamples: of the folders cuBLAS, cuBLASLt and cuRAND every eighth with a main.
  CUDALibrarySamples: 'Library samples',
  // https://github.com/BBuf/how-to-optim-algorithm-in-cuda: every fourth
  'how-to-optim-algorithm-in-cuda': 'How to optimise',
  // https://github.com/harrism/mini-nbody: all, which do not compile
  'mini-nbody': 'Mini n-body',
  // https://github.com/ENCCS/gpu-programming: every fifth
  'gpu-programming': 'ENCCS\' lesson',
  // https://github.com/ptal/gpu-programming-uni.lu: every fourth
  'gpu-programming-uni.lu': 'A course in Luxembourg',
  // https://github.com/gpgpu-sim/ispass2009-benchmarks: every third, which want headers of CUDA 4
  'ispass2009-benchmarks': 'ISPASS 2009',
  // https://github.com/AIComputing101/gpu-programming-101: every fifth
  'gpu-programming-101': 'GPU programming 101',
  // https://github.com/a-hamdi/GPU: every sixth
  GPU: 'Another 100 days',
  // https://github.com/Infatoshi/cuda-course: every third
  'cuda-course': 'Another course in videos',
  // https://github.com/pranjalssh/fast.cu: all
  'fast.cu': 'fast.cu',
  // https://github.com/zhuo34/CUDA-course: all, which want a header of CUDA by Example
  'CUDA-course': 'Another student\'s course',
  // https://github.com/moderngpu/moderngpu: every fourth of its tests
  moderngpu: 'moderngpu',
  // https://github.com/psmarter/PMPP-Learning: every fifth exercise, of several files each
  'PMPP-Learning': 'PMPP exercises',
  // https://github.com/leimao/CUDA-GEMM-Optimization: both programs, of several files each
  'CUDA-GEMM-Optimization': 'GEMM of a blog',
  // https://github.com/siboehm/SGEMM_CUDA: its one program of several files
  SGEMM_CUDA: 'SGEMM of a blog',
  // https://github.com/UoB-HPC/BabelStream: its CUDA model, which wants a header of NVML
  BabelStream: 'BabelStream',
};

// --- The table ---

const columns = ['collection', 'program', 'arguments', 'edit', 'ends', 'passes', 'seconds', 'launches', 'findings', 'advices', 'judged', 'note'];
const quoted = (field) => /[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;

function read_table() {
  return readFileSync(table, 'utf8').trim().split('\n').slice(1).map((line) => Object.fromEntries(
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, a, b], i) => [columns[i], a === undefined ? b : a.replaceAll('""', '"')])));
}

function write_table(rows) {
  writeFileSync(table, [columns.join(','), ...rows.map((row) => columns.map((name) => quoted(row[name] ?? '')).join(','))].join('\n') + '\n');
}

// --- A program ---

const short = (row) => row.program.replaceAll('/', '.').replaceAll(' ', '_').replace(/\.cu$/, '') + (row.edit ? '+' : '');

// What the program said of its own result: yes, no, waived (it says that the card cannot do it), or silent.
function verdict(done, has_findings) {
  const no = /\b(FAIL|FAILED|Fail|Failed|fail|failed(?! as expected)|mismatch|Mismatch|incorrect(?!.*: 0\b)|INCORRECT|[Hh]as errors|do(es)? not match|Non-Matching.*: [1-9]\d*)\b|(?<!-)\b(ERROR|Error):/;
  const yes = /PASS|No errors?\b|[Mm]atch(es)?[.!]|Non-Matching.*: 0\b|pass(ed)?\b|[Ss]uccess|SUCCESS|[Cc]orrect|\bOK\b|\b([Ee]rrors?|diff\w*) *[:=] *0/;
  if (done.status === 2 && /[Ww]aiv/.test(done.stdout)) return 'waived';
  if ((done.status && !(done.status === 1 && has_findings)) || no.test(done.stdout)) return 'no';
  return yes.test(done.stdout) ? 'yes' : 'silent';
}

function run(row) {
  const program = join(folder, 'bin', short(row)), own = join(folder, 'cwd', short(row)), logs = join(folder, 'logs'), log = join(logs, short(row));
  const [words, input = ''] = row.arguments.replaceAll('@', folder).split('<'), limit = process.env.LIMIT ?? '300', look = process.env.LOOK === 'run' ? [] : ['check'];
  mkdirSync(logs, { recursive: true });
  const done = spawnSync('sh', ['-c', `ulimit -S -t ${limit}; ulimit -v 10000000; "$@"; status=$?; times > "${log}.times"; exit $status`, 'sh',
    simt, 'exec', ...look, '--jobs', '1', '--', program, ...words.split(' ').filter((word) => word)],
  { cwd: existsSync(own) ? own : folder, encoding: 'latin1', maxBuffer: 1 << 28, input, timeout: 1e3 * (process.env.WALL ?? 20 * limit) });
  writeFileSync(`${log}.out`, done.stdout);
  writeFileSync(`${log}.err`, done.stderr);
  const [, minutes, seconds] = /\n(\d+)m([\d.]+)s/.exec(existsSync(`${log}.times`) ? readFileSync(`${log}.times`, 'utf8') : '') ?? [0, 0, 0];
  const [, launches, findings, advices] = /cudart: (\d+) launches were checked, \d+ of them with findings: (\d+) findings and (\d+) advices/.exec(done.stderr) ?? [];
  const cut = done.signal || / was ended by signal /.test(done.stderr), last = done.stderr.trim().split('\n').pop();
  return Object.assign(row, { ends: cut ? 'no' : 'yes', passes: cut ? '' : verdict(done, +findings), seconds: (60 * minutes + +seconds).toFixed(1), launches, findings,
    advices, note: cut ? last.replaceAll(`${folder}/`, '') : row.note });
}

// A row for each collection. Of a program that has a row with an edit, that row counts in the columns that say so.
function totals() {
  const all = read_table(), said = (row) => row.judged.split(':')[0];
  return Object.keys(collections).map((name) => {
    const built = all.filter((row) => row.collection === name && !row.edit && row.ends && row.ends !== 'not built');
    const smaller = (row) => all.find((other) => other.edit && other.collection === name && other.program === row.program) ?? row;
    const best = built.map((row) => row.ends === 'yes' ? row : smaller(row)).filter((row) => row.ends === 'yes');
    const found = built.map((row) => [row, smaller(row)].find((one) => +one.findings)).filter((row) => row);
    return [collections[name], built.length, built.filter((row) => row.ends === 'yes').length, best.length, best.filter((row) => row.passes === 'yes').length,
      ...['silent', 'waived', 'no'].map((word) => best.filter((row) => row.passes === word).length),
      ['true', 'arguable', 'false'].map((word) => found.filter((row) => said(row) === word).length).join(', ')];
  }).map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const [, , , , command, ...names] = process.argv;
if (command === 'totals') {
  if (names[0] && !readFileSync(names[0], 'utf8').includes(totals())) process.exitCode = 1;
  console.log(totals());
} else {
  const rows = read_table();
  for (const row of rows)
    if (existsSync(join(folder, 'bin', short(row))) && (names.length ? names.includes(short(row)) : !row.ends)) {
      run(row);
      const now = read_table();  // others may have run meanwhile
      now[now.findIndex((other) => other.collection === row.collection && short(other) === short(row))] = row;
      write_table(now);
      console.log(columns.map((name) => row[name]).join(' | '));
    }
}
