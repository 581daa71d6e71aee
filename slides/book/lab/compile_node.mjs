#!/usr/bin/env node
// The LLVM IR of a kernel, as the page's compiler makes it: node slides/book/lab/compile_node.mjs KERNEL.cu ARCH [-DNAME=VALUE]...
import { readFileSync } from 'node:fs';
import { headers, load_clang } from './compile_files.mjs';
import { to_ir } from './compile.mjs';

const [kernel, arch, ...defines] = process.argv.slice(2);
if (!arch) {
  console.error('usage: node slides/book/lab/compile_node.mjs KERNEL.cu ARCH [-DNAME=VALUE]...');
  process.exitCode = 2;
} else {
  const { ir, errors } = await to_ir(await load_clang(), headers(), readFileSync(kernel, 'utf8'), arch, defines);
  for (const { line, column, text } of errors ?? []) console.error(`${kernel}:${line}:${column}: error: ${text}`);
  process.stdout.write(ir ?? '');
  process.exitCode = errors ? 1 : 0;
}
