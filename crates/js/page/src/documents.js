// YAML as `kubectl` reads it, with the place of every field.

import { LineCounter, isAlias, isMap, isPair, isSeq, parseAllDocuments } from 'yaml';

// YAML 1.1, but the types that JSON does not have, and numbers such as 1:30, are strings.
const OTHER = ['timestamp', 'binary', 'omap', 'pairs', 'set'];
const known = (tag) =>
  typeof tag === 'string' || (!OTHER.some((name) => tag.tag === `tag:yaml.org,2002:${name}`) && tag.format !== 'TIME');
const OPTIONS = { version: '1.1', intAsBigInt: true, merge: true, prettyErrors: false, customTags: (tags) => tags.filter(known) };

/**
 * Reads the first document of a text: its value, its JSON and what is wrong with it. `json` is undefined where the text is
 * empty or cannot be read.
 */
export function read(text) {
  const lineCounter = new LineCounter();
  const problems = [];
  let parsed;
  try {
    const documents = [...parseAllDocuments(text, { ...OPTIONS, lineCounter })];
    parsed = documents.find(({ contents, errors }) => contents || errors.length > 0);
    for (const { errors } of documents) {
      for (const { message, pos } of errors) problems.push({ from: pos[0], to: pos[1], message: `this is not YAML: ${message}` });
    }
  } catch (error) {
    problems.push({ from: 0, to: text.length, message: `this is not YAML: ${error.message}` });
  }
  if (problems.length > 0 || !parsed) return { problems, root: undefined };
  try {
    const value = parsed.toJS({ maxAliasCount: 100 });
    return { problems, root: parsed.contents, document: parsed, value, json: json(value) };
  } catch (error) {
    return { problems: [{ from: 0, to: text.length, message: `this cannot be read: ${error.message}` }], root: undefined };
  }
}

/** JSON in which large integers are exact. */
export function json(value) {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${json(member)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

/** The range of the field with this path, such as `spec.tolerations[0].key`, or of what is closest above it. */
export function place({ root }, path) {
  let node = root;
  let range = node?.range?.slice(0, 2) ?? [0, 0];
  for (const step of steps(path)) {
    if (isAlias(node) || !node) break;
    let found;
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && String(item.key?.value ?? item.key) === step);
      if (!pair) break;
      found = pair.value;
      range = [pair.key.range[0], pair.value?.range?.[1] ?? pair.key.range[1]];
    } else if (isSeq(node)) {
      found = node.items[Number(step)];
      if (!found) break;
      range = found.range?.slice(0, 2) ?? range;
    } else break;
    node = found;
  }
  return range;
}

/** A path in parts. A key with a dot is written in brackets, as in `labels["example.com/zone"]`. */
export function steps(path) {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(([, quoted, index, name]) => quoted ?? index ?? name);
}

/** The first object of this kind in a document: the document itself, or an item of a List. With its path. */
export function objectOf({ value }, kind) {
  if (Array.isArray(value?.items)) {
    const at = value.items.findIndex((item) => item?.kind === kind || item?.kind === undefined);
    if (at >= 0) return { value: value.items[at], path: `items[${at}]` };
  }
  return { value, path: '' };
}
