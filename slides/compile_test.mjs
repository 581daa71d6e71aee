// The compiler of the book's pages under Node: what it makes of a kernel, and how it tells errors. Skipped with exit 77 where
// the packages are not installed.
//
//   node slides/compile_test.mjs
import { errors_of, to_ir } from './book/lab/compile.mjs';
import { headers, load_clang } from './book/lab/compile_files.mjs';
import { book } from './book/make.mjs';
import { read } from './project.mjs';
import { missing } from './tools.mjs';

// What clang prints, and what the editor shows of it.
const told = [
  ['kernel.cu:3:5: error: use of undeclared identifier \'x\'\nkernel.cu:9:1: note: here', ['3:5 use of undeclared identifier \'x\'']],
  ['In file included from kernel.cu:2:\ncommon/edges.cuh:7:1: error: expected \';\'\n', ['2:1 edges.cuh:7: expected \';\'']],
  ['common/edges.cuh:7:9: error: no member\nkernel.cu:31:4: note: in instantiation\n', ['31:4 edges.cuh:7: no member']],
  ['kernel.cu:4:1: error: static assertion failed: a box\nkernel.cu:8:2: error: bad\n', ['4:1 static assertion failed: a box']],
  ['kernel.cu:5:9: fatal error: \'x.h\' file not found\n', ['5:9 \'x.h\' file not found']],
];

// Kernels, and which of their errors clang must name; those without have to become IR with a kernel in it.
const header = '#include "edges.cuh"\n';
const kernels = [
  ['01 as it is', read('steps/01_naive/kernel.cu'), null],
  ['a loop that never ends', 'extern "C" __global__ void gemm(int *p) { for (;;) atomicAdd(p, 1); }', null],
  ['no semicolon', read('steps/01_naive/kernel.cu').replace(/;( *\/\/.*)?\n/, '\n'), /^\d+:\d+ expected ';'/],
  ['a header that is not there', '#include <thrust/sort.h>\n', /^1:10 'thrust\/sort.h' file not found/],
  ['a static_assert', `${header}static_assert(sizeof(int) == 8, "wide");\n`, /^2:\d+ .*wide/],
];

const text_of = (errors) => errors.map(({ line, column, text }) => `${line}:${column} ${text}`);

async function main() {
  const lacking = missing(false, { folder: book, browser: false }), wrong = [];
  if (lacking.length) {
    console.log(`skipped: ${lacking[0]}`);
    return 77;
  }
  for (const [said, wanted] of told) {
    const got = text_of(errors_of(said));
    if (got.join('\n') !== wanted.join('\n')) wrong.push(`"${said}" is told as ${JSON.stringify(got)}`);
  }
  const runLLVM = await load_clang();
  for (const [name, source, wanted] of kernels) {
    const begun = process.cpuUsage(), { ir, errors } = await to_ir(runLLVM, headers(), source, 'sm_75'), first = text_of(errors ?? [])[0];
    console.log(`${name}: ${first ?? `${ir.length} bytes`}, ${(process.cpuUsage(begun).user / 1e6).toFixed(1)} s`);
    if (wanted ? !wanted.test(first) : !/define .*ptx_kernel void @gemm\(/.test(ir)) wrong.push(`${name}: ${first ?? 'no error'}`);
  }
  for (const line of wrong) console.error(line);
  return wrong.length ? 1 : 0;
}

main().then((status) => (process.exitCode = status), (error) => {
  console.error(`compile: ${error.stack}`);
  process.exitCode = 1;
});
