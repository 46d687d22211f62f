// The package out of its tarball: what is in it, and that Node, TypeScript and bundlers take it.

import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import * as esbuild from 'esbuild';

import { install, run } from './installed.mjs';

const { folder, packed } = install(after);
const installed = join(folder, 'node_modules/placement-guard');
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const judge = "console.log(tolerates([{ operator: 'Exists' }], { key: 'spot', effect: 'NoExecute' }).tolerated)";
const names = 'check,nodeChanges,relation,tolerates,validateSettings';

test('the tarball holds these files and no others', () => {
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), [
    'LICENSE',
    'README.md',
    'index.cjs',
    'index.d.cts',
    'index.d.ts',
    'index.js',
    'package.json',
    'wasm/bytes.js',
    'wasm/placement_guard.cjs',
    'wasm/placement_guard.js',
    'wasm/placement_guard_bg.wasm',
  ]);
  assert.ok(packed.size <= 720_000, `the tarball has ${packed.size} bytes`);
  const loaded = ['index.js', 'wasm/placement_guard.js', 'wasm/bytes.js'].map((name) => readFileSync(join(installed, name)));
  const bytes = gzipSync(Buffer.concat(loaded)).length;
  assert.ok(bytes <= 420_000, `a browser loads ${bytes} bytes`);
});

test('the module inside the script is the module beside it', async () => {
  const wasm = join(installed, 'wasm');
  const { default: bytes } = await import(join(wasm, 'bytes.js'));
  assert.ok(readFileSync(join(wasm, 'placement_guard_bg.wasm')).equals(bytes));
});

test('it is required and imported, under the same names', () => {
  const list = 'console.log(Object.keys(all).sort().join())';
  const cjs = `const all = require('placement-guard'); ${list}; const { tolerates } = all; ${judge};`;
  const required = `${cjs} console.log(require.resolve('placement-guard').split('/').pop())`;
  assert.equal(run(folder, 'node', '--input-type=commonjs', '--eval', required), `${names}\ntrue\nindex.cjs\n`);
  const esm = `import * as all from 'placement-guard'; ${list}; import { tolerates } from 'placement-guard'; ${judge};`;
  const imported = `${esm} console.log(import.meta.resolve('placement-guard').split('/').pop())`;
  assert.equal(run(folder, 'node', '--input-type=module', '--eval', imported), `${names}\ntrue\nindex.js\n`);
});

test('TypeScript knows every export, as it resolves for Node and for bundlers', () => {
  const tsc = here('node_modules/typescript/bin/tsc');
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--types', ''];
  for (const sample of ['sample.mts', 'sample.cts']) {
    copyFileSync(here('sample.ts'), join(folder, sample));
    run(folder, 'node', tsc, ...options, '--module', 'node16', sample);
  }
  run(folder, 'node', tsc, ...options, '--module', 'esnext', '--moduleResolution', 'bundler', 'sample.mts');
  // The types refuse what is wrong.
  writeFileSync(join(folder, 'wrong.mts'), "import { check } from 'placement-guard';\ncheck({}, 5).allowed satisfies string;\n");
  assert.throws(
    () => run(folder, 'node', tsc, ...options, '--module', 'node16', 'wrong.mts'),
    ({ stdout }) => /error TS2345/.test(stdout) && /error TS1360/.test(stdout),
  );
});

test('a bundler takes it as it is, for browsers and for Node', async () => {
  const contents = `import { tolerates } from 'placement-guard'; ${judge};`;
  for (const [platform, format] of [['browser', 'iife'], ['browser', 'esm'], ['node', 'cjs']]) {
    const stdin = { contents, resolveDir: folder };
    const { outputFiles } = await esbuild.build({ stdin, bundle: true, write: false, platform, format });
    assert.equal(outputFiles.length, 1);
    const printed = [];
    const console = { log: (line) => printed.push(line) };
    runInNewContext(outputFiles[0].text, { console, atob, TextDecoder, TextEncoder, WebAssembly });
    assert.deepEqual(printed, [true], platform);
  }
});

test('the lines in docs/javascript.md work when pasted, and print what their comments say', () => {
  const page = readFileSync(here('../../../docs/javascript.md'), 'utf8');
  const [, lines] = /^```js\n([^]*?)^```$/m.exec(page);
  assert.ok(lines.trim().split('\n').length <= 10);
  const promised = [...lines.matchAll(/\/\/ (.*)$/gm)].map(([, text]) => text).join('\n');
  assert.ok(promised.length > 0);
  writeFileSync(join(folder, 'pasted.mjs'), lines);
  assert.equal(run(folder, 'node', 'pasted.mjs'), `${promised}\n`);
  const own = readFileSync(join(installed, 'README.md'), 'utf8');
  assert.ok(own.includes(lines), 'the README of the package has other lines');
});
