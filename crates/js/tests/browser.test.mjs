// A real browser loads the package from a local server and judges a request.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join, sep } from 'node:path';
import { after, test } from 'node:test';

import { install } from './installed.mjs';

const { folder } = install(after);
const installed = join(folder, 'node_modules', 'placement-guard');

const cases = JSON.parse(readFileSync(new URL('../../../target/npm-answers.json', import.meta.url), 'utf8'));
const judged = cases.find(({ name }) => name === 'volume-node-affinity/affinity-added');

const names = ['chromium', 'chromium-browser', 'google-chrome'];
const browser = names
  .flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name)))
  .find((file) => existsSync(file));

const page = `<!doctype html>
<title>placement-guard</title>
<pre id="answer">nothing yet</pre>
<script type="importmap">{"imports": {"placement-guard": "/placement-guard/index.js"}}</script>
<script type="module">
  import { check } from 'placement-guard';
  const { request, settings } = await (await fetch('/case')).json();
  document.getElementById('answer').textContent = encodeURIComponent(JSON.stringify(check(request, settings)));
</script>
`;

function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const file = join(installed, pathname.slice('/placement-guard/'.length));
  try {
    const [type, content] =
      pathname === '/'
        ? ['text/html', page]
        : pathname === '/case'
          ? ['application/json', JSON.stringify(judged)]
          : pathname.startsWith('/placement-guard/') && file.startsWith(installed + sep)
            ? ['text/javascript', readFileSync(file)]
            : [];
    response.writeHead(type ? 200 : 404, { 'content-type': type ?? 'text/plain' }).end(content);
  } catch (error) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end(error.message);
  }
}

test('Chromium imports the package and judges a request', async () => {
  const server = createServer(answer);
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const dom = await browse(`http://127.0.0.1:${server.address().port}/`);
    const [, text] = /<pre id="answer">([^<]*)<\/pre>/.exec(dom) ?? assert.fail(dom);
    assert.equal(decodeURIComponent(text), judged.verdict);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

// The page after its scripts ran.
function browse(address) {
  const quiet = ['--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];
  const args = ['--headless', '--no-sandbox', ...quiet, `--user-data-dir=${join(folder, 'profile')}`];
  return new Promise((resolve, reject) => {
    assert.ok(browser, `no browser of ${names} is installed`);
    const limits = { timeout: 60_000, killSignal: 'SIGKILL', maxBuffer: 1 << 24 };
    execFile(browser, [...args, '--virtual-time-budget=20000', '--dump-dom', address], limits, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
    );
  });
}
