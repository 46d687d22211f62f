// Bundles the page from the npm package in target/npm into a static folder, target/page.

import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const npm = here('../../../target/npm');
const page = here('../../../target/page');

rmSync(page, { recursive: true, force: true });
mkdirSync(page, { recursive: true });
const { metafile } = await build({
  entryPoints: { page: here('src/main.js'), worker: here('src/worker.js') },
  outdir: page,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  alias: { 'placement-guard': npm },
  logLevel: 'warning',
  metafile: true,
});

const { version } = JSON.parse(readFileSync(`${npm}/package.json`, 'utf8'));
writeFileSync(`${page}/index.html`, readFileSync(here('src/index.html'), 'utf8').replace('VERSION', version));
for (const name of ['theme.js', 'icon.svg']) cpSync(here(`src/${name}`), `${page}/${name}`);
writeFileSync(`${page}/page.css`, readFileSync(here('src/look.css'), 'utf8') + readFileSync(here('src/page.css'), 'utf8'));

// The licences of what is bundled ask that copies carry them.
const packages = Object.keys(metafile.inputs).map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
const licences = [...new Set(packages)].filter(Boolean).sort().map((name) => {
  const of = here(`node_modules/${name}`);
  const { version: released, license } = JSON.parse(readFileSync(`${of}/package.json`, 'utf8'));
  const file = readdirSync(of).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} comes without its licence`);
  return `${name} ${released}, ${license}\n\n${readFileSync(`${of}/${file}`, 'utf8').trim()}\n`;
});
writeFileSync(`${page}/licences.txt`, licences.join(`\n${'-'.repeat(72)}\n\n`));

// A page of another build brings all its files anew.
const digest = createHash('sha256');
for (const name of ['index.html', 'page.css', 'page.js', 'theme.js', 'worker.js', 'icon.svg']) digest.update(readFileSync(`${page}/${name}`));
const offline = readFileSync(here('src/offline.js'), 'utf8');
writeFileSync(`${page}/offline.js`, offline.replace('BUILD', digest.digest('hex').slice(0, 16)));
