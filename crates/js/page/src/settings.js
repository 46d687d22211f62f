// What is wrong with settings: what the library says, and what else the schema shows.

import { validateSettings } from 'placement-guard';

import { place } from './documents.js';
import { problems as ofSchema } from './schema.js';

export function settingsProblems(read) {
  if (read.json === undefined) return read.problems;
  const { valid, message } = validateSettings(read.json);
  if (valid) return [];
  const [, path, what] = /^settings are not valid: ([^ ]*?): (.*)$/s.exec(message) ?? [];
  const [from, to] = place(read, (path ?? '').replace(/^settings\.?/, ''));
  const first = { from, to, message: what ? `${path}: ${what}` : message };
  const others = ofSchema(read).filter((one) => one.from !== from);
  return [first, ...others];
}
