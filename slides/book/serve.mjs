#!/usr/bin/env node
// Serves a folder to this machine alone: node slides/book/serve.mjs FOLDER [PORT]
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml',
  '.json': 'application/json', '.wasm': 'application/wasm', '.woff2': 'font/woff2', '.png': 'image/png', '.txt': 'text/plain; charset=utf-8' };

// The file that a request asks for, or null.
function file_of(folder, url) {
  const path = join(folder, normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname)));
  const file = path.endsWith('/') ? join(path, 'index.html') : path;
  return existsSync(file) && statSync(file).isFile() ? file : null;
}

// Port 0 is any that is free. Resolves to the server, which listens.
export function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    const file = file_of(folder, request.url);
    response.writeHead(file ? 200 : 404, { 'content-type': types[extname(file ?? '.html')] ?? 'application/octet-stream' });
    response.end(file ? readFileSync(file) : 'not found');
  });
  return new Promise((done, fail) => server.on('error', fail).listen(port, '127.0.0.1', () => done(server)));
}

if (process.argv[1]?.endsWith('serve.mjs')) {
  const [folder, port] = process.argv.slice(2);
  if (!folder || !existsSync(folder)) {
    console.error(folder ? `there is no ${folder}` : 'usage: node slides/book/serve.mjs FOLDER [PORT]');
    process.exitCode = 2;
  } else {
    serve(resolve(folder), Number(port ?? 8000)).then((server) =>
      console.log(`http://localhost:${server.address().port}/ (Ctrl-C ends it)`), (error) => {
      console.error(`serve: ${error.message}`);
      process.exitCode = 1;
    });
  }
}
