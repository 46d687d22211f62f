// Arguments that are not documents: wrong types throw and name the argument, unreadable documents are answered with code and path,
// and whatever happened, the next call is answered as if nothing had.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as imported from '../../../target/npm/index.js';

const required = createRequire(import.meta.url)('../../../target/npm/index.cjs');

const settings = { volumeNodeAffinity: {} };
const volume = (values) => ({
  kind: 'PersistentVolume',
  spec: {
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }] } },
  },
});
const request = {
  operation: 'UPDATE',
  kind: { kind: 'PersistentVolume' },
  oldObject: volume(['a', 'b']),
  object: volume(['a']),
};

for (const [kind, { check, nodeChanges, relation, tolerates, validateSettings }] of Object.entries({ imported, required })) {
  const narrowed = JSON.stringify(check(request, settings));
  const isWell = () => assert.equal(JSON.stringify(check(request, settings)), narrowed);
  const throws = (call, message) => {
    assert.throws(call, (error) => error instanceof TypeError && error.message === message, message);
    isWell();
  };

  test(`${kind}: the request that the others are measured by`, () => {
    assert.deepEqual(
      { ...JSON.parse(narrowed), message: '' },
      {
        allowed: false,
        code: 403,
        message: '',
        findings: ['node-affinity-narrowed'],
        warnings: [],
        annotations: { findings: 'node-affinity-narrowed', losesNode: '{"zone":"b"}', relation: 'narrowed' },
      },
    );
  });

  test(`${kind}: a wrong type throws a TypeError that names the argument`, () => {
    const wrong = [
      [undefined, 'missing'],
      [null, 'null'],
      [5, 'a number'],
      [true, 'a boolean'],
      [5n, 'a bigint'],
      [Symbol('it'), 'a symbol'],
      [() => ({}), 'a function'],
    ];
    for (const [value, what] of wrong) {
      const complaint = (name) => `\`${name}\` is ${what}; it must be an object or a JSON text`;
      throws(() => check(value, settings), complaint('request'));
      throws(() => check(request, value), complaint('settings'));
      throws(() => validateSettings(value), complaint('settings'));
      throws(() => relation(value, volume([])), complaint('before'));
      throws(() => relation(volume([]), value), complaint('after'));
      if (value !== undefined) throws(() => relation(volume([]), volume([]), value), complaint('topology'));
      throws(() => nodeChanges(value, volume([]), []), complaint('before'));
      throws(() => nodeChanges(volume([]), value, []), complaint('after'));
      throws(() => nodeChanges(volume([]), volume([]), value), complaint('nodes'));
      throws(() => tolerates(value, {}), complaint('tolerations'));
      throws(() => tolerates([], value), complaint('taint'));
    }
  });

  test(`${kind}: options that are not understood throw, and a cluster that cannot be read is refused`, () => {
    for (const value of [null, 5, 'cluster', [], () => ({})]) {
      throws(() => check(request, settings, value), '`options` must be an object, as in `{ cluster: [] }`');
    }
    throws(() => check(request, settings, { clusters: [] }), '`options.clusters` is not a known option; known: `cluster`');
    throws(() => check(request, settings, { cluster: null }), '`cluster` is null; it must be an object or a JSON text');
    const bigint = { cluster: [{ kind: 5n }] };
    throws(() => check(request, settings, bigint), '`cluster` cannot be written as JSON: `kind` is a bigint');
    for (const options of [undefined, {}, { cluster: undefined }, { cluster: [] }, { cluster: '[]' }]) {
      assert.equal(JSON.stringify(check(request, settings, options)), narrowed);
    }
    const said = (cluster) => {
      const { code, message } = check(request, settings, { cluster });
      assert.equal(code, 422);
      isWell();
      return message;
    };
    assert.equal(said([{ kind: 'Node' }]), 'unreadable: cluster[0].apiVersion: is missing; must be a string');
    assert.equal(said('[{"kind": tru}]').slice(0, 49), 'unreadable: cluster[0].kind: is not readable JSON');
    assert.equal(said('7').slice(0, 43), 'unreadable: cluster: must be a list, but is');
  });

  test(`${kind}: a large cluster is read`, () => {
    const long = 'x'.repeat(1000);
    const node = (_, number) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `n${number}`, annotations: { long }, labels: { zone: 'a' } },
    });
    const cluster = JSON.stringify(Array.from({ length: 20_000 }, node));
    assert.ok(cluster.length > 16 * 1024 * 1024);
    assert.equal(JSON.stringify(check(request, settings, { cluster })), narrowed);
    const longest = 128 * 1024 * 1024;
    const complaint = `\`cluster\` has ${longest + 1} characters; at most ${longest} are read`;
    throws(() => check(request, settings, { cluster: ' '.repeat(longest + 1) }), complaint);
  });

  test(`${kind}: objects that JSON cannot say throw a TypeError`, () => {
    const no = (what) => `\`request\` cannot be written as JSON: ${what}`;
    const inside = (value) => () => check({ object: { it: value } }, settings);
    throws(inside(5n), no('`it` is a bigint'));
    throws(inside(() => 1), no('`it` is a function'));
    throws(inside(Symbol('it')), no('`it` is a symbol'));
    throws(inside(Number.NaN), no('`it` is NaN'));
    throws(inside(new Map([['a', 1]])), no('`it` is a Map; plain objects and arrays are read'));
    throws(inside(new Set([1])), no('`it` is a Set; plain objects and arrays are read'));
    const rounded = '`it` is a number beyond 2^53, which JavaScript has rounded; pass the JSON text instead';
    throws(inside(9223372036854775807), no(rounded));
    throws(() => check({ toJSON: () => undefined }, settings), no('its `toJSON` gives nothing'));
    throws(
      inside({
        get it() {
          throw new Error('not now');
        },
      }),
      no('not now'),
    );
    throws(
      inside({
        toJSON() {
          throw null;
        },
      }),
      no('its own code threw'),
    );
    const cycle = {};
    cycle.cycle = cycle;
    assert.throws(inside(cycle), (error) => error instanceof TypeError && error.message.startsWith(no('Converting circular')));
    let deep = {};
    for (let level = 0; level < 1_000_000; level += 1) deep = { deep };
    assert.throws(inside(deep), (error) => error instanceof TypeError && error.message.startsWith(no('Maximum call stack')));
    isWell();
  });

  test(`${kind}: members without a value are absent`, () => {
    assert.equal(JSON.stringify(check({ ...request, name: undefined, dryRun: null }, settings)), narrowed);
  });

  test(`${kind}: texts too long for any API server are not taken in`, () => {
    const long = ' '.repeat(8 * 1024 * 1024 + 1);
    throws(() => check(long, settings), '`request` has 8388609 characters; at most 8388608 are read');
    assert.equal(check(`[${'[],'.repeat(2_700_000)}[]]`, settings).code, 422);
    assert.equal(check(`{"object":"${'é'.repeat(8_000_000)}"}`, settings).code, 422);
    isWell();
  });

  test(`${kind}: what cannot be read is answered with code and path`, () => {
    const refused = (message) => ({
      allowed: false,
      code: 422,
      message,
      findings: [],
      warnings: [],
      annotations: {},
    });
    const readable = 'is not readable JSON: ';
    for (const [text, message] of [
      ['', `unreadable: payload: ${readable}EOF while parsing a value at line 1 column 0`],
      ['{"object": {"spec": tru}}', `unreadable: object.spec: ${readable}expected ident at line 1 column 24`],
      ['[]', 'unreadable: request: must be an object, but is an empty list'],
    ]) {
      assert.deepEqual(check(text, settings), refused(message));
    }
    const unreadable = (answer, begin) => {
      assert.equal(answer.code, 422);
      assert.equal(answer.message.slice(0, begin.length), begin);
      isWell();
    };
    unreadable(check(`${'['.repeat(500_000)}`, settings), 'unreadable: ');
    unreadable(check(`{"name": "\ud800"}`, settings), `unreadable: name: ${readable}control character`);
    unreadable(check({ name: '\udc00' }, settings), `unreadable: name: ${readable}`);
    unreadable(check('{"name": "\\\ud800"}', settings), `unreadable: name: ${readable}invalid escape`);
    unreadable(check(request, '{"volumeNodeAffinity": 1}'), 'settings are not valid: volumeNodeAffinity: must be');
    assert.deepEqual(validateSettings('{"volumeNodeAffinity": {"allow": ["wider"]}}'), {
      valid: false,
      message:
        'settings are not valid: volumeNodeAffinity.allow[0]: must be one of `widened`, `narrowed`, `shifted`, `undecided`, but is `wider`',
    });
  });

  test(`${kind}: relation names the document and the field that it cannot read`, () => {
    const good = volume(['a']);
    const said = (before, after, topology) => {
      const { message, ...rest } = relation(before, after, topology);
      const nothing = { relation: null, losesNode: null, gainsNode: null, facts: null, warnings: [], code: 422 };
      assert.deepEqual(rest, nothing);
      isWell();
      return message;
    };
    const place = 'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]';
    assert.equal(said(volume([1]), good), `unreadable: before.${place}: must be a string, but is a number: \`1\`; write it in quotes`);
    assert.equal(said(good, volume([1])), `unreadable: after.${place}: must be a string, but is a number: \`1\`; write it in quotes`);
    assert.equal(said({ kind: 'Pod' }, good), 'unreadable: before.kind: must be `PersistentVolume`, but is `Pod`');
    assert.equal(said(good, 'null').slice(0, 30), 'unreadable: after: is missing;');
    assert.equal(said(good, []), 'unreadable: after: must be an object, but is an empty list');
    assert.equal(said(good, '{}, "object": {}').slice(0, 49), 'unreadable: after: is not readable JSON: trailing');
    assert.equal(said(good, good, []), 'unreadable: topology: must be an object, but is an empty list');
    assert.equal(said(good, good, { zone: {} }).slice(0, 45), 'unreadable: topology.zone: is not a known key');
    assert.equal(said(good, good, '{"zones": ]').slice(0, 49), 'unreadable: topology.zones: is not readable JSON:');
  });

  test(`${kind}: relation needs the facts that it names`, () => {
    const zone = {
      kind: 'PersistentVolume',
      spec: {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-east1-b'] }] },
            ],
          },
        },
      },
    };
    const region = JSON.parse(JSON.stringify(zone).replace('/zone', '/region').replace('us-east1-b', 'us-east1'));
    assert.equal(relation(zone, region).relation, 'shifted');
    const { facts, ...rest } = relation(zone, region, { zones: { 'us-east1': ['us-east1-b', 'us-east1-c'] } });
    assert.equal(facts, 'zone us-east1-b lies in region us-east1');
    assert.equal(rest.relation, 'widened');
    assert.equal(rest.losesNode, null);
    assert.equal(rest.gainsNode['topology.kubernetes.io/region'], 'us-east1');
  });

  test(`${kind}: nodeChanges asks about each node, and names what it cannot read`, () => {
    const [before, after] = [volume(['a', 'b']), volume(['b', 'c'])];
    const node = (zone) => ({ kind: 'Node', metadata: { name: `in-${zone}`, labels: { zone } } });
    const nodes = ['a', 'b', 'c', 'd'].map(node);
    const changes = ['loses', 'keeps', 'gains', 'never'].map((change, at) => ({ name: nodes[at].metadata.name, change }));
    const expected = { nodes: changes, code: null, message: null };
    for (const given of [nodes, JSON.stringify(nodes), { kind: 'List', items: [...nodes, { kind: 'Pod' }] }]) {
      assert.deepEqual(nodeChanges(before, after, given), expected);
    }
    const said = (...documents) => {
      const { message, ...rest } = nodeChanges(...documents);
      assert.deepEqual(rest, { nodes: [], code: 422 });
      isWell();
      return message;
    };
    assert.equal(said({ kind: 'Pod' }, after, nodes), 'unreadable: before.kind: must be `PersistentVolume`, but is `Pod`');
    assert.equal(said(before, 'null', nodes).slice(0, 30), 'unreadable: after: is missing;');
    assert.equal(said(before, after, [{ kind: 'Node' }]), 'unreadable: nodes[0].metadata.name: is missing; must be a string');
    assert.equal(said(before, after, '[tru]').slice(0, 44), 'unreadable: nodes[0]: is not readable JSON: ');
  });

  test(`${kind}: tolerates names the document and the field that it cannot read`, () => {
    const said = (tolerations, taint) => {
      const { message, ...rest } = tolerates(tolerations, taint);
      assert.deepEqual(rest, { tolerated: false, code: 422 });
      isWell();
      return message;
    };
    const taint = { key: 'spot', value: '35', effect: 'NoExecute' };
    assert.equal(said([{ key: 5 }], taint), 'unreadable: tolerations[0].key: must be a string, but is a number: `5`; write it in quotes');
    assert.equal(said({}, taint), 'unreadable: tolerations: must be a list, but is an object: `{}`');
    assert.equal(said('[tru]', taint).slice(0, 50), 'unreadable: tolerations[0]: is not readable JSON: ');
    assert.equal(said([], { effect: 'NoExecute' }), 'unreadable: taint.key: is missing; must be a string');
    assert.equal(said([], { key: 'spot' }), 'unreadable: taint.effect: is missing; must be a string');
    assert.equal(said([], [taint]), 'unreadable: taint: must be an object, but is a list of 1 item');
    const below = [{ key: 'spot', operator: 'Lt', value: '36', tolerationSeconds: 5 }];
    assert.deepEqual(tolerates(below, taint), { tolerated: true, code: null, message: null });
    assert.equal(tolerates(`[{"operator": "Exists", "tolerationSeconds": 9223372036854775807}]`, taint).tolerated, true);
  });

  test(`${kind}: a stack that runs out in the middle of a call leaves nothing behind`, () => {
    // As texts: the stack is to run out in wasm, not where objects are written.
    const texts = [JSON.stringify(request), JSON.stringify(settings)];
    const dive = (depth) => {
      check(...texts);
      return dive(depth + 1);
    };
    const { Instance } = WebAssembly;
    let fresh = 0;
    WebAssembly.Instance = function (...given) {
      fresh += 1;
      return new Instance(...given);
    };
    try {
      for (let round = 0; round < 3; round += 1) {
        assert.throws(() => dive(0), RangeError);
        isWell();
      }
    } finally {
      WebAssembly.Instance = Instance;
    }
    assert.ok(fresh >= 3, `${fresh} fresh instances`);
    isWell();
  });

  test(`${kind}: code of the caller that calls again while its object is written is answered`, () => {
    const nested = { ...request, toJSON: () => (isWell(), request) };
    assert.equal(JSON.stringify(check(nested, settings)), narrowed);
  });
}
