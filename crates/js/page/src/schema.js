// What the JSON Schema of the settings says at a place: for completion, and to show every mistake and not only the first.

import { isMap, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';

import schema from '../../../../policies/settings.schema.json';
import { place } from './documents.js';

const MARK = 'c0mpletion';

// A schema with what it refers to. Where a value may be null too, the other choice is meant.
function resolved(node) {
  if (node?.$ref) return resolved({ ...schema.$defs[node.$ref.slice('#/$defs/'.length)], ...without(node, '$ref') });
  const choices = node?.anyOf?.filter(({ type }) => type !== 'null');
  if (choices?.length === 1) {
    const inner = resolved(choices[0]);
    return { ...inner, description: node.description ?? inner.description };
  }
  return node;
}

function without(object, key) {
  const { [key]: _left, ...rest } = object;
  return rest;
}

function below(node, step) {
  const at = resolved(node);
  if (!at) return undefined;
  if (typeof step === 'number') return at.items;
  if (at.properties?.[step]) return at.properties[step];
  return typeof at.additionalProperties === 'object' ? at.additionalProperties : undefined;
}

// Values that a schema lists, with what it says about each.
function values(node) {
  const at = resolved(node);
  if (!at) return [];
  const own = [...(at.enum ?? []), ...(at.const === undefined ? [] : [at.const]), ...(at.type === 'boolean' || at.type?.includes?.('boolean') ? [true, false] : [])];
  const listed = own.filter((value) => value !== null).map((value) => ({ value, description: at.description }));
  const choices = [...(at.oneOf ?? []), ...(at.anyOf ?? [])].flatMap(values);
  return [...listed, ...choices];
}

const kinds = {
  object: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => typeof value === 'bigint' || Number.isInteger(value),
  number: (value) => typeof value === 'bigint' || typeof value === 'number',
  null: (value) => value === null,
};

/** What the schema finds wrong: keys that it does not know, types, and values that it does not list. */
export function problems(read) {
  const found = [];
  const complain = (path, message) => {
    const [from, to] = place(read, path);
    found.push({ from, to, message });
  };
  const look = (node, value, path) => {
    const at = resolved(node);
    if (!at || value === null) return;
    const types = [at.type ?? []].flat();
    if (types.length > 0 && !types.some((type) => kinds[type]?.(value))) {
      complain(path, `must be ${types.filter((type) => type !== 'null').map(named).join(' or ')}`);
      return;
    }
    const listed = values(at);
    if (listed.length > 0 && typeof value === 'string' && !types.includes('string')) {
      if (!listed.some((one) => one.value === value)) complain(path, `must be one of ${listed.map((one) => `\`${one.value}\``).join(', ')}`);
    } else if (at.enum && !at.enum.includes(value)) {
      complain(path, `must be one of ${at.enum.map((one) => `\`${one}\``).join(', ')}`);
    }
    if (Array.isArray(value)) value.forEach((item, index) => look(at.items, item, `${path}[${index}]`));
    else if (kinds.object(value)) {
      for (const [key, member] of Object.entries(value)) {
        const next = /[./]/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
        const inner = below(at, key);
        if (inner) look(inner, member, next);
        else if (at.additionalProperties === false) {
          complain(next, `is not a known key; expected one of ${Object.keys(at.properties ?? {}).map((one) => `\`${one}\``).join(', ')}`);
        }
      }
    }
  };
  if (read.value !== undefined) look(schema, read.value, '');
  return found;
}

function named(type) {
  return { object: 'an object', array: 'a list', string: 'a string', boolean: 'true or false', integer: 'an integer', number: 'a number' }[type] ?? type;
}

/** What may be written at the cursor, for CodeMirror. */
export function complete(context) {
  const word = context.matchBefore(/[\w./-]*/);
  const [head, tail] = [context.state.sliceDoc(0, word.from), context.state.sliceDoc(context.pos)];
  // On an empty line nothing is offered unasked: Enter is to begin the next line there.
  if (!context.explicit && word.from === word.to && !/(: |\[|\{|, )$/.test(head)) return null;
  const options = [...keysAt(head, tail), ...valuesAt(head, tail)];
  return options.length > 0 ? { from: word.from, options, validFor: /^[\w./-]*$/ } : null;
}

function keysAt(head, tail) {
  const hasColon = /^[ \t]*:/.test(tail);
  const parsed = parseDocument(`${head}${MARK}${hasColon ? '' : ': 0'}${tail}`, { prettyErrors: false, uniqueKeys: false });
  const found = [];
  visit(parsed, {
    Pair(_, pair, ancestors) {
      if (pair.key?.value !== MARK) return undefined;
      const at = resolved(schemaOf(ancestors));
      const present = new Set(ancestors.at(-1).items.map((item) => item.key?.value));
      for (const [key, node] of Object.entries(at?.properties ?? {})) {
        if (present.has(key)) continue;
        const inner = resolved(node);
        const type = [inner?.type ?? []].flat().filter((one) => one !== 'null')[0];
        found.push({ label: key, type: 'property', detail: type, info: inner?.description, apply: hasColon ? key : `${key}: ` });
      }
      return visit.BREAK;
    },
  });
  return found;
}

function valuesAt(head, tail) {
  const parsed = parseDocument(`${head}${MARK}${tail}`, { prettyErrors: false, uniqueKeys: false });
  const found = [];
  visit(parsed, {
    Scalar(key, scalar, ancestors) {
      if (scalar.value !== MARK || key === 'key') return undefined;
      for (const { value, description } of values(schemaOf([...ancestors, scalar]))) {
        found.push({ label: String(value), type: 'enum', info: description });
      }
      return visit.BREAK;
    },
  });
  return found;
}

// The schema of the last of these nodes, each of which contains the next.
function schemaOf(nodes) {
  let at = schema;
  for (const [index, node] of nodes.entries()) {
    const next = nodes[index + 1];
    if (isPair(node)) at = below(at, isScalar(node.key) ? String(node.key.value) : '');
    else if (isSeq(node) && next !== undefined) at = below(at, node.items.indexOf(next));
    else if (isMap(node) || isScalar(node)) continue;
  }
  return at;
}
