// Serves target/page on loopback: `node serve.mjs [PORT]`. The tests use the same server.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };

/** Serves a folder on loopback, on this port or a free one, and gives the server and its address. */
export async function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const file = join(folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname));
    try {
      if (!file.startsWith(folder + sep)) throw new Error('is not in the folder');
      const content = readFileSync(file);
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-cache' }).end(content);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
    }
  });
  await new Promise((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 8000);
  try {
    const { address } = await serve(fileURLToPath(new URL('../../../target/page', import.meta.url)), port);
    console.log(`${address} serves target/page; Ctrl+C ends it`);
  } catch (error) {
    console.error(`port ${port} cannot be used: ${error.message}; name another one, as in \`make page-serve PORT=8080\``);
    process.exitCode = 1;
  }
}
