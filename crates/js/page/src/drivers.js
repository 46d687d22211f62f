// The tab about CSIDriver objects: who gets which token, and where it is put.

import { check } from 'placement-guard';

import { heading, whole } from './answer.js';
import { place, read } from './documents.js';
import { h } from './dom.js';
import { requestOf } from './request.js';
import { complete } from './schema.js';
import { settingsProblems } from './settings.js';
import { Tab } from './tab.js';

export class Drivers extends Tab {
  constructor(panel) {
    super(panel, {
      before: { title: 'Before', hint: 'A CSIDriver; leave it empty where it is created' },
      after: { title: 'After', hint: 'The CSIDriver that is applied' },
      settings: { title: 'Settings of the policy', hint: 'csiDriverTokens:\n  requireSecrets: true', complete },
      cluster: { title: 'Objects of the cluster', hint: 'For settings with `rollout`: what `kubectl get nodes,csinodes,daemonsets -A -o yaml` prints' },
    });
    this.answer = panel.querySelector('.answer');
    this.tokens = panel.querySelector('.tokens');
  }

  update() {
    const started = performance.now();
    const documents = Object.fromEntries(['before', 'after', 'settings', 'cluster'].map((name) => [name, read(this.documents[name])]));
    const { before, after, settings, cluster } = documents;
    const problems = { before: before.problems, after: after.problems, settings: settingsProblems(settings), cluster: cluster.problems };
    const isReadable =
      after.json !== undefined && settings.json !== undefined && problems.settings.length + before.problems.length + cluster.problems.length === 0;
    const verdict = isReadable
      ? check(requestOf(after.value, before.value ?? undefined), settings.json, cluster.json ? { cluster: cluster.json } : {})
      : undefined;
    const [, name, path, what] = /^unreadable: (object|oldObject|cluster)\.?([^ ]*?): (.*)$/s.exec(verdict?.message ?? '') ?? [];
    if (name) {
      const pane = { object: 'after', oldObject: 'before', cluster: 'cluster' }[name];
      const [from, to] = place(documents[pane], path);
      problems[pane] = [{ from, to, message: `${path}: ${what}` }];
    }
    this.show(problems);
    this.compare();
    const id = 'drivers-answer';
    this.answer.replaceChildren(
      ...(verdict
        ? whole(id, verdict, 'The policy accepts the tokens that this driver gets, and where they are put.').filter(Boolean)
        : [heading(id, 'Answer', { word: 'cannot be read', tone: 'bad' }), h('p', { class: 'sentence' }, 'Write a CSIDriver and settings.')]
      ).flat(),
    );
    this.tokens.replaceChildren(
      heading('drivers-tokens', 'Where the tokens go'),
      ...(verdict && verdict.code !== 422
        ? [before.value ? flow('Before', before.value) : '', flow(before.value ? 'After' : 'Created', after.value)]
        : [h('p', { class: 'sentence' }, 'This is drawn when everything above can be read.')]),
    );
    performance.measure('answer', { start: started });
  }
}

// One object, as it is written: nothing is judged here.
function flow(title, object) {
  const spec = object?.spec ?? {};
  const inSecrets = spec.serviceAccountTokenInSecrets === true;
  const requests = Array.isArray(spec.tokenRequests) ? spec.tokenRequests : [];
  const where = inSecrets ? 'secrets' : 'volume_context';
  const audiences = requests.map((one) =>
    h('li', {}, h('code', {}, one?.audience === '' ? '"" (the API server)' : String(one?.audience)), ` for ${one?.expirationSeconds ?? '3600'} s`),
  );
  return h(
    'section',
    { class: 'flow' },
    h('h4', {}, title),
    requests.length === 0
      ? h('p', {}, 'The driver requests no tokens.')
      : h(
          'div',
          { class: 'steps' },
          h('div', { class: 'step' }, h('b', {}, 'tokens for'), h('ul', {}, audiences)),
          h('div', { class: 'arrow', 'aria-hidden': 'true' }, '→'),
          h('div', { class: `step ${inSecrets ? 'safe' : 'exposed'}` }, h('b', {}, where), h('p', {}, inSecrets ? 'kept out of logs' : 'may appear in logs')),
          h('div', { class: 'arrow', 'aria-hidden': 'true' }, '→'),
          h('div', { class: 'step' }, h('b', {}, 'driver'), h('p', {}, String(object?.metadata?.name ?? 'without a name'))),
        ),
    requests.length > 0 && h('p', { class: 'note' }, spec.requiresRepublish === true ? 'The kubelet renews the tokens of a mounted volume.' : 'The kubelet does not renew the tokens of a mounted volume.'),
  );
}
