// Programs of public repositories on the simulated GPU, as programs.csv lists them:
//
//   node programs.mjs SIMT FOLDER select COLLECTION    names the programs that the rule chooses
//   node programs.mjs SIMT FOLDER run [PROGRAM...]     builds and runs those, or all that have no result; fills in programs.csv
//   node programs.mjs SIMT FOLDER totals [TEXT]        counts what programs.csv has; status 1: TEXT does not quote that
//
// SIMT is the program simt of a build with the CUDA runtime. FOLDER has clones of the repositories, named as in `collections`
// below, and gets what is built. Each program runs by itself under `simt exec check --jobs 1`, or without check if LOOK=run is in the
// environment, for at most LIMIT seconds of a processor (300 if it is not there) and 10 GB of memory. What was built or changed by hand stays: delete FOLDER/bin/PROGRAM to build anew.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [simt, folder] = process.argv.slice(2, 4).map((path) => resolve(path)), table = join(dirname(fileURLToPath(import.meta.url)), 'programs.csv');
const source = /\.(cu|cuh|h|hpp|hxx|cpp|c|cc)$/, compiled = /\.(cu|cpp|c|cc)$/, beside = /^(Makefile.*|CMakeLists.txt|README.*|LICENSE.*|\.gitignore)$/i;
const library = /cublas|cufft|cusparse|curand|cusolver|nccl|nvml|cudnn|npp\.h|nppi|nvJPEG|nvjpeg/;
const others = /cublas|cufft|cusparse|curand|cusolver|nccl\.h|nvml|cudnn|openacc|acc_|mpi\.h|nvToolsExt|nvtx|<omp\.h>/;
const textures = /texture<|tex[123]D|[Tt]extureObject|surf[123]D|cudaArray_t|cudaMallocArray|cudaMipmapped/;
const files = (at) => readdirSync(at, { recursive: true }).filter((name) => statSync(join(at, name), { throwIfNoEntry: false })?.isFile()).sort();
const text = (at, names) => names.map((name) => readFileSync(join(at, name), 'latin1')).join('');

// The words that a Makefile's target "run" gives the program; null: it has no such target.
function run_line(makefile) {
  const commands = /^run:.*\n((?:\t.*\n?)+)/m.exec(makefile);
  return commands && commands[1].trim().split('\n')[0].split('$(program)').pop().trim().split(/\s+/).filter((word) => word);
}

// --- Which programs, and how each is built ---

const rodinia = {
  backprop: 'backprop.c facetrain.c imagenet.c backprop_cuda.cu',
  gaussian: 'gaussian.cu',
  lavaMD: 'main.c kernel/kernel_gpu_cuda_wrapper.cu util/num/num.c util/timer/timer.c util/device/device.cu',
  lud: '-Icommon cuda/lud.cu cuda/lud_kernel.cu common/common.c',
  nw: 'needle.cu',
  particlefilter_float: 'ex_particle_CUDA_float_seq.cu',
  particlefilter_naive: 'ex_particle_CUDA_naive_seq.cu',
  pathfinder: 'pathfinder.cu',
  streamcluster: 'streamcluster_cuda_cpu.cpp streamcluster_cuda.cu',
};

// What CUDA 13 has no more.
const no_more = ['-DcudaThreadSynchronize=cudaDeviceSynchronize', '-DcudaThreadExit=cudaDeviceReset', '-DdeviceOverlap=asyncEngineCount', '-DclockRate=minor', '-DmemoryClockRate=minor'];

// A repository of programs of one .cu file each, with those .cpp files beside it that have no main.
function single_files(repository, under, but, each = 1) {
  const at = join(folder, repository, under);
  return {
    at: (program) => dirname(join(at, program)),
    select: () => files(at).filter((name) => name.endsWith('.cu') && !but.test(`/${name}`)).filter((name) => {
      const words = text(at, [name]);
      return /\bmain\s*\(/.test(words) && /<<</.test(words) && !others.test(words) && !textures.test(words) && !/cpu_bitmap|cpu_anim|gpu_anim|GL\//.test(words);
    }).filter((name, i) => i % each === 0),
    build: (here, program) => ['-std=c++17', ...no_more, program.split('/').pop(), '-lcuda',
      ...readdirSync(here).filter((name) => name.endsWith('.cpp') && !/\bmain\s*\(/.test(text(here, [name])))],
  };
}

// Of the repositories below that have no rule of their own: files .cu with a main that launch something, and use nothing that is not there; in alphabetical
// order of their paths every each-th from the first. The rule was written before any was built. How each was built is not kept here.
const not_there = /cufft|cusparse|cusolver|nccl\.h|nvml|cudnn|mpi\.h|nvToolsExt|nvtx|opencv|npp\.h|texture<|GL\/|torch\/|FreeImage|wb\.h|cudaGL|SDL/;

function chosen(repository, each, short) {
  const at = join(folder, repository);
  return {
    short,
    at: (program) => dirname(join(at, program)),
    select: () => files(at).filter((name) => name.endsWith('.cu')).filter((name) => {
      const words = text(at, [name]);
      return /\bmain\s*\(/.test(words) && /<<</.test(words) && !not_there.test(words);
    }).filter((name, i) => i % each === 0),
  };
}

const collections = {
  // https://github.com/zjin-lcf/HeCBench: in alphabetical order the first 172 folders src/*-cuda of at most four sources, whose
  // other files are notes and Makefiles, which use no library but the runtime, CUB and thrust, no texture and no file of another
  // folder, and are run with numbers alone.
  HeCBench: {
    at: (program) => join(folder, 'HeCBench/src', program),
    select: () => readdirSync(join(folder, 'HeCBench/src')).filter((name) => name.endsWith('-cuda')).sort().filter((name) => {
      const at = join(folder, 'HeCBench/src', name), all = files(at), sources = all.filter((file) => source.test(file)), words = text(at, sources);
      const run = all.includes('Makefile') && run_line(text(at, ['Makefile']));
      return run && sources.length <= 4 && all.every((file) => source.test(file) || beside.test(file.split('/').pop())) && !library.test(words) &&
        !/mpi\.h|texture|tex[123]D|surf[123]D|#include\s*["<]\.\.\//.test(words) && run.every((word) => /^-?\d+(\.\d+)?$/.test(word));
    }).slice(0, 172),
    build(at) {
      const make = text(at, ['Makefile']).replace(/ifeq \(\$\(DEBUG\)[^]*?endif/g, ''), listed = /^source\s*[:?]?=\s*((?:.*\\\n)*.*)$/m.exec(make);
      const named = (listed ? listed[1].replaceAll('\\', '').split(/\s+/) : []).filter((name) => name && existsSync(join(at, name)));
      const flags = make.match(/(?<!\S)(-D\w+(?:=[\w"']+)?|-I\S+|--?extended-lambda|--?expt-\w[\w-]*|-std=\S+|-fopenmp)/g) ?? [];
      return [...new Set(flags.filter((flag) => !flag.includes('$(')).map((flag) => flag === '-fopenmp' ? '-Xcompiler=-fopenmp' : flag)),
        ...flags.some((flag) => flag.startsWith('-std')) ? [] : ['-std=c++17'], '-x', 'cu',
        ...named.length ? named : readdirSync(at).filter((name) => compiled.test(name)).sort()];
    },
  },
  // https://github.com/NVIDIA/cuda-samples: of the folders 0 to 6 of Samples all that use no texture, graphics, dynamic parallelism,
  // driver's API, MPI, OpenMP or library.
  'cuda-samples': {
    at: (program) => join(folder, 'cuda-samples/Samples', program),
    select: () => readdirSync(join(folder, 'cuda-samples/Samples')).filter((name) => /^[0-6]_/.test(name)).sort().flatMap((chapter) =>
      readdirSync(join(folder, 'cuda-samples/Samples', chapter)).sort().map((name) => `${chapter}/${name}`)).filter((name) => {
      const at = join(folder, 'cuda-samples/Samples', name);
      if (!existsSync(join(at, 'CMakeLists.txt'))) return false;
      const sources = files(at).filter((file) => source.test(file)), cmake = text(at, ['CMakeLists.txt']), words = text(at, sources);
      return sources.some((file) => compiled.test(file)) && !textures.test(words) && !library.test(words + cmake) && !/cudadevrt/.test(cmake) && !name.includes('/cdp') &&
        !/GL\/|vulkan|\bEGL|cudaEGL|\bd3d|\bD3D|nvsci|NvSci|helper_gl|nvrtc|\bcuModule|\bcuLaunch|\bcuInit|\bcuMem|cuCtx|cuDeviceGet|mpi\.h|<omp\.h>|FreeImage/.test(words);
    }),
    build: (at) => [`-I${folder}/cuda-samples/Common`, '-I.', '-Iinc', '-std=c++17', '--extended-lambda', ...text(at, ['CMakeLists.txt']).includes('SEPARABLE') ? ['-rdc=true'] : [],
      ...text(at, ['CMakeLists.txt']).includes('helper_multiprocess') ? [`${folder}/cuda-samples/Common/helper_multiprocess.cpp`] : [],
      ...files(at).filter((name) => compiled.test(name))],
  },
  // https://github.com/yuhc/gpu-rodinia: of the folder cuda all that use no texture and are run without a file of data.
  'gpu-rodinia': {
    short: 'Rodinia',
    at: (program) => join(folder, 'gpu-rodinia/cuda', program.split('_')[0]),
    select: () => Object.keys(rodinia),
    build: (at, program) => ['-DcudaThreadSynchronize=cudaDeviceSynchronize', ...rodinia[program].split(' ')],  // which CUDA 13 has no more
  },
  // https://github.com/R100001/Programming-Massively-Parallel-Processors, solutions of the book's labs: all.
  'Programming-Massively-Parallel-Processors': {
    short: 'PMPP labs',
    at: (program) => dirname(join(folder, 'Programming-Massively-Parallel-Processors/Chapters', program)),
    select: () => files(join(folder, 'Programming-Massively-Parallel-Processors/Chapters')).filter((name) => /\/labs\/.*\.cu$/.test(name)),
    build: (at, program) => ['-std=c++17', program.split('/').pop()],
  },
  // https://github.com/sgrauerg/polybenchGpu: of the folder CUDA the first twelve.
  polybenchGpu: {
    at: (program) => join(folder, 'polybenchGpu/CUDA', program),
    select: () => readdirSync(join(folder, 'polybenchGpu/CUDA')).filter((name) => existsSync(join(folder, 'polybenchGpu/CUDA', name, 'Makefile'))).sort().slice(0, 12),
    build: (at) => [`-I${folder}/polybenchGpu/common`, ...no_more, ...readdirSync(at).filter((name) => name.endsWith('.cu'))],
  },
  // https://github.com/NVIDIA-developer-blog/code-samples: all files .cu with a main that use no library, MPI, texture or dynamic parallelism.
  'code-samples': { ...single_files('code-samples', '', /\/(nvml|grcuda)\//), short: 'NVIDIA\'s blog' },
  // https://github.com/CodedK/CUDA-by-Example-source-code-for-the-book-s-examples-: all that launch a kernel and open no window.
  'CUDA-by-Example': { ...single_files('CUDA-by-Example', '', /_cpu\.cu$/), short: 'CUDA by Example' },
  // https://github.com/deeperlearning/professional-cuda-c-programming: of the folder examples every second of those that use no library, OpenMP, OpenACC
  // or dynamic parallelism and are given no file.
  'professional-cuda-c-programming': { ...single_files('professional-cuda-c-programming', 'examples', /nested|crypt/, 2), short: 'Professional CUDA C' },
  // https://github.com/brucefan1983/CUDA-Programming: every second of the files .cu with a main and a kernel that use no library.
  'CUDA-Programming': single_files('CUDA-Programming', 'src', /13-md/, 2),
  // https://github.com/karpathy/llm.c: of the folder dev/cuda the first in alphabetical order.
  'llm.c': {
    at: () => join(folder, 'llm.c/dev/cuda'),
    select: () => readdirSync(join(folder, 'llm.c/dev/cuda')).filter((name) => name.endsWith('.cu')).sort().slice(0, 1),
    build: (at, program) => ['-std=c++17', '--use_fast_math', '-Xcompiler=-fopenmp', program, '-lcublas', '-lcublasLt'],
  },
  // https://github.com/vetter/shoc: of src/cuda the first five benchmarks of level 1 that use no texture and src/cuda/common/main.cpp. With a
  // config.h in src/common that defines HAVE_CLOCK_GETTIME and HAVE_GETTIMEOFDAY.
  shoc: {
    short: 'SHOC',
    at: (program) => join(folder, 'shoc/src/cuda', program.split('.')[0]),
    select: () => readdirSync(join(folder, 'shoc/src/cuda/level1')).sort().map((name) => `level1/${name}`).filter((name) => {
      const at = join(folder, 'shoc/src/cuda', name), sources = statSync(at).isDirectory() ? readdirSync(at).filter((file) => source.test(file)) : [];
      return sources.some((file) => file.endsWith('.cu')) && !sources.some((file) => file.endsWith('main.cpp')) && !textures.test(text(at, sources));
    }).slice(0, 5),
    build: (at) => ['-std=c++14', ...no_more, '-I.', ...['cuda/common', 'common'].map((path) => `-I${folder}/shoc/src/${path}`), ...readdirSync(at).filter((name) => compiled.test(name) && !name.startsWith('tp')),
      `${folder}/shoc/src/cuda/common/main.cpp`, ...['OptionParser', 'ResultDatabase', 'Timer', 'Option', 'ProgressBar', 'InvalidArgValue', ...at.endsWith('bfs') ? ['Graph'] : []].map((name) => `${folder}/shoc/src/common/${name}.cpp`), '-lcublas'],
  },
  // https://github.com/abduld/Parboil: of benchmarks all with a folder src/cuda and no texture reference, which CUDA 13 does not compile. The data
  // are those of data.mjs, since the repository has none.
  Parboil: {
    at: (program) => join(folder, 'Parboil/benchmarks', program, 'src/cuda'),
    select: () => readdirSync(join(folder, 'Parboil/benchmarks')).filter((name) => existsSync(join(folder, 'Parboil/benchmarks', name, 'src/cuda'))).sort()
      .filter((name) => !/texture *</.test(text(join(folder, 'Parboil/benchmarks', name, 'src/cuda'), readdirSync(join(folder, 'Parboil/benchmarks', name, 'src/cuda'))))),
    build: (at) => [...no_more, '-I.', `-I${folder}/data`, `-I${folder}/Parboil/common/include`, ...text(at, ['Makefile']).match(/OBJS=.*/)[0].match(/(?<!#)\b\w+(?=\.o)/g)
      .map((name) => readdirSync(at).find((file) => compiled.test(file) && file.split('.')[0] === name)), ...['args.c', 'parboil_cuda.c'].map((name) => `${folder}/Parboil/common/src/${name}`)],
  },
  // https://github.com/utcs-scea/altis: all of src/cuda but yolo, which needs a network's weights, as far as the time went. With a config.h in src/common as for SHOC, and
  // cudaMemAdvise and cudaMemPrefetchAsync as CUDA 12 had them (data.mjs).
  altis: {
    short: 'Altis',
    at: (program) => dirname(join(folder, 'altis/src/cuda', program)),
    select: () => files(join(folder, 'altis/src/cuda')).filter((name) => /^level/.test(name) && !/yolo/.test(name) && /\.cu$/.test(name) && /void RunBenchmark/.test(text(join(folder, 'altis/src/cuda'), [name]))),
    build: (at, program) => ['-std=c++17', '-rdc=true', ...no_more, '-include', `${folder}/data/cuda12.h`, '-I.', '-Idwt_cuda', '-Ikernel', `-I${folder}/altis/src/cuda/common`, `-I${folder}/altis/src/common`, program.split('/').pop(),
      ...files(at).filter((name) => name.endsWith('.cu') && (/level2.(dwt2d|kmeans)|level1.sort/.test(at) || name.endsWith('wrapper.cu')) && name !== program.split('/').pop()),
      ...at.endsWith('dwt2d') ? ['data/bmp.cpp'] : [], `${folder}/altis/src/cuda/common/main.cu`, ...['OptionParser', 'ResultDatabase', 'Timer', 'Option', 'ProgressBar'].map((name) => `${folder}/altis/src/common/${name}.cpp`), '-lcublas', '-lcurand'],
  },
  // https://github.com/olcf/cuda-training-series: the solutions of all exercises.
  'cuda-training-series': {
    short: 'Oak Ridge\'s training',
    at: (program) => dirname(join(folder, 'cuda-training-series/exercises', program)),
    select: () => files(join(folder, 'cuda-training-series/exercises')).filter((name) => name.endsWith('_solution.cu')),
    build: (at, program) => ['-std=c++17', '-rdc=true', '-include', `${folder}/data/cuda12.h`, '-DUSE_STREAMS', program.split('/').pop(), '-lcublas'],
  },
  // https://github.com/HyuckHan/gpu-programming: the labs of a course, all.
  HyuckHan: {
    short: 'Labs of a course',
    at: (program) => dirname(join(folder, 'HyuckHan/labs', program)),
    select: () => files(join(folder, 'HyuckHan/labs')).filter((name) => name.endsWith('.cu')),
    build: (at, program) => ['-std=c++17', '-I../../common', '-I../lab03-blur', program.split('/').pop()],
  },
  // https://github.com/iktovr/GPU-Programming: a student's solutions that read text, and the programs that try their parts.
  iktovr: {
    short: 'A student\'s labs',
    at: (program) => dirname(join(folder, 'iktovr', program)),
    select: () => files(join(folder, 'iktovr')).filter((name) => /^lab([145]\/lab.|5\/test_programs\/.*)\.cu$/.test(name)),
    build: (at, program) => ['-std=c++17', `-I${folder}/iktovr`, '-I..', '-I../..', program.split('/').pop()],
  },
  // https://github.com/CoffeeBeforeArch/cuda_programming
  cuda_programming: chosen('cuda_programming', 1, 'A course in videos'),
  // https://github.com/PacktPublishing/Learn-CUDA-Programming
  'Learn-CUDA-Programming': chosen('Learn-CUDA-Programming', 3, 'Learn CUDA Programming'),
  // https://github.com/roryck/CUDA-Exercises
  'CUDA-Exercises': chosen('CUDA-Exercises', 1, 'Exercises'),
  // https://github.com/BasmaElhoseny01/GPU-Architecture-Parallel-Computing-CUDA-Course-Labs
  'GPU-Architecture-Parallel-Computing-CUDA-Course-Labs': chosen('GPU-Architecture-Parallel-Computing-CUDA-Course-Labs', 2, 'Another student\'s labs'),
  // https://github.com/eegkno/CUDA_by_practice
  CUDA_by_practice: chosen('CUDA_by_practice', 5, 'CUDA by practice'),
  // https://github.com/1y33/100Days
  '100Days': chosen('100Days', 4, 'Kernels of 100 days'),
  // https://github.com/rajat2004/gpu-programming
  rajat2004: chosen('rajat2004', 10, 'Programs of a lecture'),
  // https://github.com/CisMine/Parallel-Computing-Cuda-C
  'Parallel-Computing-Cuda-C': chosen('Parallel-Computing-Cuda-C', 1, 'A tutorial'),
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

const short = (row) => row.program.split('/').slice(-2).join('.').replace(/\.cu$/, '') + (row.edit ? '+' : '');

// Where it is built and run: in its own folder, or in a copy with the constants of `edit`, a script of sed, changed.
function place(row) {
  const at = collections[row.collection].at(row.program);
  if (!row.edit) return at;
  const copy = join(folder, 'edited', short(row));
  rmSync(copy, { recursive: true, force: true });
  cpSync(at, copy, { recursive: true });
  execFileSync('sed', ['-i', '-E', row.edit, ...files(copy).filter((name) => source.test(name))], { cwd: copy });
  return copy;
}

function build(row, at) {
  const program = join(folder, 'bin', short(row));
  mkdirSync(dirname(program), { recursive: true });
  if (!existsSync(program) && !collections[row.collection].build)
    throw new Error('how it is built is not kept here');
  if (!existsSync(program))
    execFileSync(simt, ['nvcc', '-w', '-O2', ...row.edit ? [`-I${collections[row.collection].at(row.program)}`] : [], ...collections[row.collection].build(at, row.program), '-o', program], { cwd: at, stdio: ['ignore', 'ignore', 'pipe'], timeout: 1200e3 });
  return program;
}

// What the program said of its own result: yes, no, waived (it says that the card cannot do it), or silent.
function verdict(done, has_findings) {
  const no = /\b(FAIL|FAILED|Fail|Failed|fail|failed(?! as expected)|mismatch|Mismatch|incorrect(?!.*: 0\b)|INCORRECT|[Hh]as errors|do(es)? not match|Non-Matching.*: [1-9]\d*)\b|(?<!-)\b(ERROR|Error):/;
  const yes = /PASS|No errors?\b|[Mm]atch(es)?[.!]|Non-Matching.*: 0\b|pass(ed)?\b|[Ss]uccess|SUCCESS|[Cc]orrect|\bOK\b|\b(errors?|diff\w*) *[:=] *0/;
  if (done.status === 2 && /[Ww]aiv/.test(done.stdout)) return 'waived';
  if ((done.status && !(done.status === 1 && has_findings)) || no.test(done.stdout)) return 'no';
  return yes.test(done.stdout) ? 'yes' : 'silent';
}

function run(row) {
  const at = place(row), [words, input = ''] = row.arguments.replaceAll('@', folder).split('<'), limit = process.env.LIMIT ?? '300', look = process.env.LOOK === 'run' ? [] : ['check'], logs = join(folder, 'logs'), log = join(logs, short(row));
  mkdirSync(logs, { recursive: true });
  let program;
  try {
    program = build(row, at);
  } catch (error) {
    writeFileSync(`${log}.err`, `${error.stderr ?? error}`);
    return Object.assign(row, { ends: 'not built', note: row.note || `${error.stderr ?? error}`.split('\n')[0].slice(0, 150) });
  }
  const done = spawnSync('sh', ['-c', `ulimit -S -t ${limit}; ulimit -v 10000000; "$@"; status=$?; times > "${log}.times"; exit $status`, 'sh',
    simt, 'exec', ...look, '--jobs', '1', '--', program, ...words.split(' ').filter((word) => word)],
  { cwd: at, encoding: 'latin1', maxBuffer: 1 << 28, input, timeout: 1e3 * (process.env.WALL ?? 20 * limit) });
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
    return [collections[name].short ?? name, built.length, built.filter((row) => row.ends === 'yes').length, best.length, best.filter((row) => row.passes === 'yes').length,
      ...['silent', 'waived', 'no'].map((word) => best.filter((row) => row.passes === word).length),
      ['true', 'arguable', 'false'].map((word) => found.filter((row) => said(row) === word).length).join(', ')];
  }).map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const [, , , , command, ...names] = process.argv;
if (command === 'select') {
  console.log(collections[names[0]].select().join('\n'));
} else if (command === 'totals') {
  if (names[0] && !readFileSync(names[0], 'utf8').includes(totals())) process.exitCode = 1;
  console.log(totals());
} else {
  const rows = read_table();
  for (const row of rows)
    if (names.length ? names.includes(short(row)) : !row.ends) {
      run(row);
      const now = read_table();  // others may have run meanwhile
      now[now.findIndex((other) => other.collection === row.collection && short(other) === short(row))] = row;
      write_table(now);
      console.log(columns.map((name) => row[name]).join(' | '));
    }
}
