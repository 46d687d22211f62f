// The tab for everything else: any request or manifest, with any settings, in a cluster of given objects.

import { check } from 'placement-guard';

import { heading, whole } from './answer.js';
import { place, read } from './documents.js';
import { h } from './dom.js';
import { requestOf } from './request.js';
import { complete } from './schema.js';
import { settingsProblems } from './settings.js';
import { Tab } from './tab.js';

export class Requests extends Tab {
  constructor(panel) {
    super(panel, {
      request: { title: 'AdmissionReview, request, or a manifest to create', hint: 'YAML or JSON' },
      settings: { title: 'Settings of the policy', hint: 'localVolumes:\n  pinned: true', complete },
      cluster: { title: 'Objects of the cluster', hint: 'For settings that read the cluster: what `kubectl get … -A -o yaml` prints' },
    });
    this.answer = panel.querySelector('.answer');
    this.raw = panel.querySelector('.raw');
  }

  update() {
    const started = performance.now();
    const documents = Object.fromEntries(['request', 'settings', 'cluster'].map((name) => [name, read(this.documents[name])]));
    const { request, settings, cluster } = documents;
    const problems = { request: request.problems, settings: settingsProblems(settings), cluster: cluster.problems };
    const isReadable = request.json !== undefined && settings.json !== undefined && problems.settings.length + cluster.problems.length === 0;
    const isManifest = typeof request.value?.kind === 'string' && request.value.kind !== 'AdmissionReview';
    const text = isManifest ? isReadable && requestOf(request.value) : request.json;
    const verdict = isReadable ? check(text, settings.json, cluster.json ? { cluster: cluster.json } : {}) : undefined;
    const [, path, what] = /^unreadable: ([^ ]*?): (.*)$/s.exec(verdict?.message ?? '') ?? [];
    if (what) {
      const isOfCluster = /^cluster\b/.test(path);
      const within = isOfCluster ? path.replace(/^cluster\.?/, '') : isManifest ? path.replace(/^object\.?/, '') : request.value?.kind === 'AdmissionReview' ? `request.${path}` : path;
      const pane = isOfCluster ? 'cluster' : 'request';
      const [from, to] = place(documents[pane], within);
      problems[pane] = [{ from, to, message: `${path}: ${what}` }];
    }
    this.show(problems);
    const id = 'requests-answer';
    this.answer.replaceChildren(
      ...(verdict
        ? whole(id, verdict, 'The policy accepts this request.').filter(Boolean)
        : [heading(id, 'Answer', { word: 'cannot be read', tone: 'bad' }), h('p', { class: 'sentence' }, 'Write a request and settings.')]
      ).flat(),
    );
    this.raw.replaceChildren(
      heading('requests-raw', 'As the library returns it'),
      h('pre', { tabindex: 0, 'aria-label': 'The verdict as JSON' }, verdict ? JSON.stringify(verdict, null, 2) : ''),
    );
    performance.measure('answer', { start: started });
  }
}
