// The package as a user gets it: packed, and installed from the tarball into an empty folder.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../../target/npm', import.meta.url));

/** Runs a program to its end, a minute at most, and gives what it prints; what it complains of is in the error. */
export function run(folder, program, ...args) {
  return execFileSync(program, args, { cwd: folder, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** An empty folder with the package in it, gone after the tests; and what `npm pack` says that it packed. */
export function install(after) {
  const folder = mkdtempSync(join(tmpdir(), 'placement-guard-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const [packed] = JSON.parse(run(built, 'npm', 'pack', '--json', '--pack-destination', folder));
  writeFileSync(join(folder, 'package.json'), '{"name": "user", "private": true}\n');
  run(folder, 'npm', 'install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename));
  return { folder, packed };
}
