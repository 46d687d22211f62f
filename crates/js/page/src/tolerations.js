// The tab about tolerations: a pod, what the policy allows, and number lines for comparisons.

import { check } from 'placement-guard';

import { example, heading, whole } from './answer.js';
import { json, place, read } from './documents.js';
import { h, said } from './dom.js';
import { drawLine, lines } from './lines.js';
import { requestOf } from './request.js';
import { complete } from './schema.js';
import { settingsProblems } from './settings.js';
import { Tab } from './tab.js';

export class Tolerations extends Tab {
  constructor(panel) {
    super(panel, {
      pod: { title: 'Pod, workload, or a list of tolerations', hint: 'A Pod or a Deployment' },
      settings: { title: 'Settings of the policy', hint: 'tolerations:\n  allowed: []', complete },
    });
    this.answer = panel.querySelector('.answer');
    this.lines = panel.querySelector('.lines');
  }

  update() {
    const started = performance.now();
    const [pod, settings] = [read(this.documents.pod), read(this.documents.settings)];
    const problems = { pod: pod.problems, settings: settingsProblems(settings) };
    const isReadable = pod.json !== undefined && settings.json !== undefined && problems.settings.length === 0;
    const object = asPod(pod.value);
    const verdict = isReadable ? check(requestOf(object.value), settings.json) : undefined;
    const [, path, what] = /^unreadable: object\.?([^ ]*?): (.*)$/s.exec(verdict?.message ?? '') ?? [];
    if (what) {
      const [from, to] = place(pod, object.isList ? path.replace('spec.tolerations', '') : path);
      problems.pod = [{ from, to, message: `${path}: ${what}` }];
    }
    this.show(problems);
    const id = 'tolerations-answer';
    const taint = taintOf(verdict?.annotations.taint);
    this.answer.replaceChildren(
      ...(verdict
        ? [
            ...whole(
              id,
              verdict,
              'The pod tolerates only taints that the policy allows.',
              taint && example('A taint that shows it:', 'loses', { [taint.key]: `${taint.value ?? ''}:${taint.effect}` }),
            ),
          ]
        : [heading(id, 'Answer', { word: 'cannot be read', tone: 'bad' }), h('p', { class: 'sentence' }, 'Write a pod and settings.')]
      )
        .flat()
        .filter(Boolean),
    );
    this.showLines(isReadable && verdict.code !== 422, object.value, settings.value?.tolerations, taint);
    performance.measure('answer', { start: started });
  }

  showLines(isReadable, object, rule, taint) {
    const plain = (list) => (Array.isArray(list) ? list.map(({ key, operator, value, effect }) => ({ key, operator, value, effect })) : []);
    const bands = { pod: plain(podSpec(object)?.tolerations), allowed: plain(rule?.allowed), denied: plain(rule?.denied) };
    const drawn = isReadable ? lines(bands) : [];
    const none = isReadable
      ? 'Neither the pod nor the policy compares numbers with `Gt` or `Lt`, so there is no number line to draw.'
      : 'The lines are drawn when everything above can be read.';
    this.lines.replaceChildren(
      heading('tolerations-lines', 'Numbers'),
      ...(drawn.length > 0 ? drawn.map((line) => drawLine(line, bands, taint)) : [h('p', { class: 'sentence' }, said(none))]),
      ...(drawn.length > 0
        ? [
            h('p', { class: 'note' }, 'A full dot belongs to the range, an empty one does not. A toleration permits a node and does not attract the pod to it.'),
          ]
        : []),
    );
  }
}

// A list of tolerations is taken as the pod that has them.
function asPod(value) {
  if (!Array.isArray(value)) return { value, isList: false };
  return { value: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, spec: { tolerations: value } }, isList: true };
}

function podSpec(object) {
  const spec = object?.spec;
  return spec?.jobTemplate?.spec?.template?.spec ?? spec?.template?.spec ?? spec;
}

// `key=value:Effect`, as the annotation has it.
function taintOf(text) {
  const [, key, value, effect] = /^([^=]*?)(?:=(.*))?:(\w+)$/.exec(text ?? '') ?? [];
  return key === undefined ? undefined : { key, value, effect };
}
