// Reads pasted nodes: of each its name, its labels and its line. What `kubectl get nodes -o yaml` prints of 5,000 nodes is
// long, so it is cut at the items of the list, only `kind` and `metadata` of each are read, and each item is read once.

import { read } from './documents.js';

let known = new Map();

/** `{nodes: [{name, labels, line}], problems}`; a problem has a line and a message. */
export function readNodes(text) {
  const start = text.trimStart()[0];
  if (start === undefined) return { nodes: [], problems: [] };
  if (start === '{' || start === '[') return ofJson(text);
  const items = cut(text);
  if (!items) return ofWhole(text);
  const seen = new Map();
  const nodes = [];
  const problems = [];
  for (const { line, lines } of items) {
    const piece = lines.join('\n');
    const item = known.get(piece) ?? ofItem(piece);
    seen.set(piece, item);
    if (item.problem) problems.push({ line, message: item.problem });
    else if (item.node) nodes.push({ ...item.node, line });
  }
  known = seen;
  return { nodes, problems };
}

function ofItem(piece) {
  const { problems, value } = read(piece);
  if (problems.length > 0) return { problem: problems[0].message };
  return { node: picked(value?.[0]) };
}

function picked(object) {
  if (object?.kind !== undefined && object.kind !== 'Node') return undefined;
  return { name: object?.metadata?.name, labels: object?.metadata?.labels };
}

function ofJson(text) {
  try {
    return ofValue(JSON.parse(text));
  } catch {
    return ofWhole(text);
  }
}

function ofWhole(text) {
  // Documents one after another, each a node or a list.
  const all = [];
  let line = 1;
  for (const part of text.split(/^---.*$/m)) {
    const { problems, value } = read(part);
    if (problems.length > 0) {
      const within = part.slice(0, problems[0].from).split('\n').length - 1;
      return { nodes: [], problems: [{ line: line + within, message: problems[0].message }] };
    }
    if (value !== undefined && value !== null) all.push(...ofValue(value, line).nodes);
    line += part.split('\n').length - 1;
  }
  return { nodes: all, problems: [] };
}

function ofValue(value, line = 1) {
  const items = Array.isArray(value) ? value : Array.isArray(value?.items) ? value.items : [value];
  return { nodes: items.map(picked).filter((node) => node !== undefined).map((node) => ({ ...node, line })), problems: [] };
}

// The items of `items:`, as lines; undefined where the text is not such a list. An item ends where a line is indented less, and
// its members are two columns further than its dash. Members that hold no label are left out.
function cut(text) {
  if (/^---\s*$/m.test(text.trimStart().slice(3)) || /[\s[{,][&*]\w/.test(text)) return undefined;
  const lines = text.split('\n');
  const list = lines.findIndex((line) => /^items:\s*$/.test(line));
  const begin = lines.findIndex((line, at) => at > list && /^\s*- /.test(line));
  if (begin < 0 || (list < 0 && lines.slice(0, begin).some((line) => /^\s*[^\s#-]/.test(line)))) return undefined;
  const indent = lines[begin].indexOf('-');
  const items = [];
  let member;
  let part;
  for (let at = begin; at < lines.length; at += 1) {
    const line = lines[at];
    const depth = line.search(/\S/);
    if (depth < 0) continue;
    if (depth === indent && line.startsWith('- ', depth)) {
      items.push({ line: at + 1, lines: [line] });
      [member, part] = [key(line.slice(depth + 2)), undefined];
      continue;
    }
    if (depth <= indent && line[depth] === '#') continue;
    if (depth <= indent) break;
    const name = key(line.slice(depth));
    if (depth === indent + 2 && name) [member, part] = [name, undefined];
    else if (depth === indent + 4 && name) part = name;
    if (member === 'kind' || (member === 'metadata' && part !== 'annotations')) items.at(-1).lines.push(line);
  }
  return items;
}

function key(text) {
  return /^["']?([\w./-]+)["']?:/.exec(text)?.[1];
}
