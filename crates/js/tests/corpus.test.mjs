// The package answers what the library answers natively, and what Kubernetes itself answered.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as imported from '../../../target/npm/index.js';

const required = createRequire(import.meta.url)('../../../target/npm/index.cjs');
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const everyCase = JSON.parse(read('../../../target/npm-answers.json'));
// In some cases a kind of the cluster cannot be read, and JavaScript cannot give such a cluster.
const cases = everyCase.filter(({ canBeGiven }) => canBeGiven);
const within = (cluster, as) => (cluster === null ? [] : [{ cluster: as(cluster) }]);

// How many cases are left out, and how many at least have a cluster; change this where a case is added.
const [LEFT_OUT, WITH_CLUSTER] = [115, 60];

const holdsRounded = (value) =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(holdsRounded)
    : Number.isInteger(value) && !Number.isSafeInteger(value);

for (const [kind, { check, relation, tolerates, validateSettings }] of Object.entries({ imported, required })) {
  test(`${kind}: every case of the corpus, to the byte`, () => {
    assert.ok(cases.length >= 370, `${cases.length} cases`);
    for (const { name, settings, valid, request, cluster, verdict } of cases) {
      assert.equal(JSON.stringify(validateSettings(settings)), valid, name);
      if (request !== null) assert.equal(JSON.stringify(check(request, settings, ...within(cluster, String))), verdict, name);
    }
  });

  test(`${kind}: as many cases with a cluster as there are, and no more left out`, () => {
    assert.equal(everyCase.length - cases.length, LEFT_OUT);
    const withCluster = cases.filter(({ cluster }) => cluster !== null);
    assert.ok(withCluster.length >= WITH_CLUSTER, `${withCluster.length} with a cluster`);
  });

  test(`${kind}: the order of objects and how they are given change no answer`, () => {
    for (const { name, settings, request, cluster, verdict } of cases) {
      if (request === null || cluster === null) continue;
      const objects = JSON.parse(cluster);
      for (const given of [objects.toReversed(), { apiVersion: 'v1', kind: 'List', items: objects }]) {
        assert.equal(JSON.stringify(check(request, settings, { cluster: given })), verdict, name);
      }
    }
  });

  test(`${kind}: cases as objects, and requests inside an AdmissionReview`, () => {
    let judged = 0;
    for (const { name, settings, request, cluster, verdict } of cases) {
      if (request === null) continue;
      const [object, rules] = [JSON.parse(request), JSON.parse(settings)];
      // What JavaScript has rounded passes as text only.
      if (holdsRounded(object) || holdsRounded(rules)) continue;
      const given = within(cluster, JSON.parse);
      assert.equal(JSON.stringify(check(object, rules, ...given)), verdict, name);
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: object };
      if (object?.kind?.kind) assert.equal(JSON.stringify(check(review, rules, ...given)), verdict, name);
      judged += 1;
    }
    assert.ok(judged >= 300, `${judged} judged`);
  });

  test(`${kind}: edits of volumes relate as the verdict says`, () => {
    const edits = cases.filter(({ edit }) => edit !== null);
    assert.ok(edits.length >= 60, `${edits.length} edits`);
    let compared = 0;
    for (const { name, settings, edit, verdict } of edits) {
      const { judgeBy, topology } = JSON.parse(settings).volumeNodeAffinity ?? {};
      // `relation` knows no cluster.
      if (judgeBy === 'liveNodes' || topology?.fromLiveNodes) continue;
      const answer = relation(edit.before, edit.after, edit.topology);
      assert.equal(JSON.stringify(answer), edit.relation, name);
      const { annotations } = JSON.parse(verdict);
      if (annotations.relation === undefined) continue;
      const node = (labels) => (labels === undefined ? null : JSON.parse(labels));
      assert.equal(answer.relation, annotations.relation, name);
      assert.deepEqual(answer.losesNode, node(annotations.losesNode), name);
      assert.deepEqual(answer.gainsNode, node(annotations.gainsNode), name);
      assert.equal(answer.facts, annotations.facts ?? null, name);
      compared += 1;
    }
    assert.ok(compared >= 50, `${compared} compared`);
  });

  test(`${kind}: tolerations and taints as Kubernetes matches them`, () => {
    const lines = read('../../../tests/vectors/random_tolerates.jsonl').trim().split('\n');
    assert.equal(lines.length, 2500);
    for (const line of lines) {
      const recorded = JSON.parse(line);
      const expected = { tolerated: recorded.tolerates, code: null, message: null };
      assert.deepEqual(tolerates([recorded.toleration], recorded.taint), expected, line);
    }
  });
}
