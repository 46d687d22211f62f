// How pasted YAML is read: nodes item by item as if they were read whole, and places of fields.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { objectOf, place, read } from '../src/documents.js';
import { readNodes } from '../src/nodes.js';
import { manyNodes } from '../src/samples.js';

const items = `- apiVersion: v1
  kind: Node
  metadata:
    annotations:
      note: |
        - apiVersion: v1
        kind: Node
    labels:
      zone: a
      "quoted/key": "b"
    name: one
    ownerReferences:
    - name: other
  spec:
    taints:
    - key: name
  status:
    metadata: {labels: {zone: wrong}}
- metadata: {name: two, labels: {zone: b}}
  kind: Node

# A comment.
- kind: Pod
  metadata: {name: three}
- {kind: Node, metadata: {name: four, labels: {zone: d}}}
`;
const expected = [
  { name: 'one', labels: { zone: 'a', 'quoted/key': 'b' }, line: 1 },
  { name: 'two', labels: { zone: 'b' }, line: 19 },
  { name: 'four', labels: { zone: 'd' }, line: 25 },
];

const at = (line) => expected.map((node) => ({ ...node, line: node.line + line }));
const bare = ({ nodes, problems }) => ({ nodes: nodes.map(({ name, labels }) => ({ name, labels })), problems });

test('a list is read item by item', () => {
  assert.deepEqual(readNodes(items), { nodes: at(0), problems: [] });
  const list = `apiVersion: v1\nitems:\n${items}kind: List\nmetadata:\n  resourceVersion: ""\n`;
  assert.deepEqual(readNodes(list), { nodes: at(2), problems: [] });
  const indented = `kind: List\nitems:\n${items.replace(/^(?=.)/gm, '  ')}`;
  assert.deepEqual(readNodes(indented), { nodes: at(2), problems: [] });
});

test('what is not such a list is read as a whole', () => {
  const flat = { nodes: at(0).map(({ name, labels }) => ({ name, labels })), problems: [] };
  const { value } = read(items);
  assert.deepEqual(bare(readNodes(JSON.stringify(value))), flat);
  assert.deepEqual(bare(readNodes(JSON.stringify({ kind: 'List', items: value }))), flat);
  const documents = value.map((node) => JSON.stringify(node)).join('\n---\n');
  assert.deepEqual(bare(readNodes(`---\n${documents}`)), flat);
  const anchored = 'items:\n- &node {kind: Node, metadata: {name: a}}\n- *node\n';
  assert.deepEqual(readNodes(anchored).nodes.map(({ name }) => name), ['a', 'a']);
  assert.deepEqual(readNodes('kind: Node\nmetadata: {name: a, labels: {b: c}}\n').nodes, [{ name: 'a', labels: { b: 'c' }, line: 1 }]);
  assert.deepEqual(readNodes(' \n'), { nodes: [], problems: [] });
});

test('an item that is not YAML is named, and the others are read', () => {
  const broken = 'items:\n- kind: Node\n  metadata: {name: a}\n- kind: Node\n  metadata: {name: [}\n- kind: Node\n  metadata: {name: c}\n';
  const { nodes, problems } = readNodes(broken);
  assert.deepEqual(nodes.map(({ name }) => name), ['a', 'c']);
  assert.equal(problems.length, 1);
  assert.equal(problems[0].line, 4);
});

test('many nodes are all read, and read once', () => {
  const text = manyNodes(300);
  assert.equal(readNodes(text).nodes.length, 300);
  const changed = text.replace('node-0007', 'changed');
  assert.equal(readNodes(changed).nodes[7].name, 'changed');
});

test('YAML is read as `kubectl` reads it', () => {
  assert.deepEqual(read('a: yes\nb: 0777\nc: 1:30\nd: 2001-01-01\ne: 0o7\nf: ~\n').value, { a: true, b: 511n, c: '1:30', d: '2001-01-01', e: '0o7', f: null });
  assert.equal(read('a: 9223372036854775807\n').json, '{"a":9223372036854775807}');
  assert.equal(read('').json, undefined);
  assert.equal(read('# nothing\n').json, undefined);
  assert.match(read('a: {\n').problems[0].message, /^this is not YAML: /);
  assert.match(read('a: 1\na: 2\n').problems[0].message, /unique/);
});

test('a field has a place', () => {
  const document = read('kind: List\nitems:\n- kind: PersistentVolume\n  metadata: {labels: {a.b/c: d}}\n');
  const text = (path) => {
    const [from, to] = place(document, path);
    return document.document.toString() && 'kind: List\nitems:\n- kind: PersistentVolume\n  metadata: {labels: {a.b/c: d}}\n'.slice(from, to);
  };
  assert.equal(text('items[0].metadata.labels[a.b/c]'), 'a.b/c: d');
  assert.equal(text('items[0].kind'), 'kind: PersistentVolume');
  // What is not there is shown at what is closest above it.
  assert.equal(text('items[0].kind.deeper'), 'kind: PersistentVolume');
  assert.deepEqual(objectOf(document, 'PersistentVolume').path, 'items[0]');
});
