// The tab about PersistentVolumes: before, after, the nodes, and what the library says about them.

import { check, nodeChanges, relation, validateSettings } from 'placement-guard';
import { Document, isScalar, visit } from 'yaml';

import { codes, example, heading, message, verdictOf, warnings } from './answer.js';
import { json, objectOf, place, read } from './documents.js';
import { h, said } from './dom.js';
import { draw, legend, places } from './map.js';
import { complete } from './schema.js';
import { settingsProblems } from './settings.js';
import { Tab } from './tab.js';

const KIND = 'PersistentVolume';

// More nodes than this make a cluster large.
const MANY = 1000;

const SENTENCES = {
  unchanged: 'Nothing changes about where the volume can be used.',
  equivalent: 'It is written in another way, and the same nodes can use the volume.',
  widened: 'Every node that can use the volume before the change can use it afterwards, and more nodes can.',
  narrowed: 'Some nodes that can use the volume before the change cannot use it afterwards.',
  shifted: 'Some nodes lose the volume, and others gain it.',
  undecided: 'The question is too large to be decided exactly.',
};

export class Volumes extends Tab {
  constructor(panel) {
    super(panel, {
      before: { title: 'Before', hint: 'A PersistentVolume as it is in the cluster' },
      after: { title: 'After', hint: 'The same PersistentVolume, edited' },
      nodes: { title: 'Nodes', hint: 'Paste what `kubectl get nodes -o yaml` prints' },
      settings: { title: 'Settings of the policy', hint: 'volumeNodeAffinity: {}', complete },
    });
    this.nodes = [];
    this.nodeProblems = [];
    this.turn = 0;
    this.worker = new Worker('worker.js');
    this.worker.addEventListener('message', ({ data }) => this.take(data));
    this.answer = panel.querySelector('.answer');
    this.map = panel.querySelector('.map');
    this.accepting = panel.querySelector('.accepting');
  }

  changed(name) {
    if (name !== undefined && name !== 'nodes') return this.update();
    clearTimeout(this.timer);
    this.turn += 1;
    this.waits = true;
    this.worker.postMessage({ turn: this.turn, text: this.documents.nodes });
    // A short list is read before the next picture is drawn.
    if (name !== undefined || this.documents.nodes.length < 100_000) return undefined;
    this.nodes = [];
    return this.update();
  }

  take({ turn, nodes, problems }) {
    if (turn !== this.turn) return;
    this.waits = false;
    this.nodes = nodes;
    this.nodeProblems = problems;
    this.places = places(nodes);
    this.nodesJson = new Map();
    this.keys = [...new Set(nodes.flatMap(({ labels }) => Object.keys(labels ?? {})))];
    this.update();
  }

  // The nodes as JSON, with the labels that matter: those that one of the documents names, and those of topology, which a
  // volume of an in-tree plugin can mean without naming them.
  cluster() {
    const texts = ['before', 'after', 'settings'].map((name) => this.documents[name]);
    const isEscaped = texts.some((text) => text.includes('\\'));
    const matters = (key) => isEscaped || /topology|zone|region/i.test(key) || texts.some((text) => text.includes(key));
    const keys = this.keys.filter(matters);
    const signature = keys.join();
    if (!this.nodesJson.has(signature)) {
      const labelsOf = (labels) => Object.fromEntries(keys.filter((key) => labels && key in labels).map((key) => [key, labels[key]]));
      const items = this.nodes.map(({ name, labels }) => ({ metadata: { name, labels: labelsOf(labels) } }));
      this.nodesJson = new Map([[signature, JSON.stringify({ apiVersion: 'v1', kind: 'NodeList', items })]]);
    }
    return this.nodesJson.get(signature);
  }

  update() {
    const started = performance.now();
    const [before, after, settings] = ['before', 'after', 'settings'].map((name) => read(this.documents[name]));
    const problems = { before: before.problems, after: after.problems, settings: settingsProblems(settings), nodes: this.nodeProblemsAt() };
    const objects = { before: objectOf(before, KIND), after: objectOf(after, KIND) };
    const texts = { before: json(objects.before.value), after: json(objects.after.value) };
    const isReadable = before.json !== undefined && after.json !== undefined;
    const isValid = settings.json !== undefined && problems.settings.length === 0;
    const found = isReadable ? relation(texts.before, texts.after, isValid ? topologyOf(settings) : '{}') : undefined;
    if (found?.message) this.blame(found.message, { before, after }, objects, problems);
    const hasNodes = this.nodes.length > 0 && this.nodeProblems.length === 0;
    const cluster = isReadable && found.relation && hasNodes ? this.cluster() : undefined;
    const reached = cluster ? nodeChanges(texts.before, texts.after, cluster) : undefined;
    if (reached?.message) problems.nodes = this.nodeBlamed(reached.message);
    const asked = isReadable && found.relation && isValid ? { request: request(texts, objects), cluster } : undefined;
    // In a large cluster, where only names would be missing, the names come once typing pauses.
    const isEarly = asked !== undefined && this.nodes.length > MANY && !needsNodes(settings.value);
    const verdict = asked && judge(isEarly ? { ...asked, cluster: undefined } : asked, settings.json);
    this.show(problems);
    this.compare();
    this.showAnswer({ found, verdict, reached, isValid, isReadable });
    this.showMap(reached);
    performance.measure('answer', { start: started });
    if (this.accepting.childElementCount === 0) this.showAccepting({});
    // What stands there belongs to the answer before.
    this.accepting.inert = true;
    this.accepting.ariaBusy = 'true';
    if (this.waits) return;
    this.later(() => {
      const whole = isEarly ? judge(asked, settings.json) : verdict;
      if (isEarly) this.showAnswer({ found, verdict: whole, reached, isValid, isReadable });
      this.showAccepting({ asked, settings, verdict: whole, found, reached });
    });
  }

  // A problem of the library, at its line.
  blame(text, documents, objects, problems) {
    const [, name, path, what] = /^unreadable: (before|after)\.?([^ ]*?): (.*)$/s.exec(text) ?? [];
    if (!name) return;
    const whole = [objects[name].path, path].filter(Boolean).join('.');
    const [from, to] = place(documents[name], whole);
    problems[name] = [...problems[name], { from, to, message: `${path ? `${path}: ` : ''}${what}` }];
  }

  nodeProblemsAt() {
    const text = this.documents.nodes;
    return this.nodeProblems.map(({ line, message: said }) => ({ ...lineOf(text, line), message: said }));
  }

  nodeBlamed(text) {
    const [, index, what] = /^unreadable: nodes\.items\[(\d+)\]\.?(.*)$/s.exec(text) ?? [];
    return [{ ...lineOf(this.documents.nodes, this.nodes[Number(index)]?.line ?? 1), message: what ?? text }];
  }

  showAnswer({ found, verdict, reached, isValid, isReadable }) {
    const id = 'volumes-answer';
    if (!isReadable || !found.relation) {
      const what = isReadable ? message(found.message) : h('p', { class: 'sentence' }, 'Write a PersistentVolume into both panes.');
      this.answer.replaceChildren(heading(id, 'Answer', { word: 'cannot be read', tone: 'bad' }), ...[what].flat());
      return;
    }
    const labelled = (text) => (text ? JSON.parse(text) : null);
    const shown = verdict
      ? {
          relation: verdict.annotations.relation ?? found.relation,
          loses: labelled(verdict.annotations.losesNode),
          gains: labelled(verdict.annotations.gainsNode),
          facts: verdict.annotations.facts,
        }
      : { relation: found.relation, loses: found.losesNode, gains: found.gainsNode, facts: found.facts };
    const name = h('span', { class: `relation ${shown.relation}` }, shown.relation);
    this.answer.replaceChildren(
      heading(id, 'Answer', isValid ? verdictOf(verdict) : { word: 'settings cannot be used', tone: 'bad' }, name),
      h('p', { class: 'sentence' }, SENTENCES[shown.relation]),
      ...[
        reached && reached.nodes.length > 0 && h('p', { class: 'sentence' }, counted(reached.nodes)),
        shown.loses && example('A node with these labels loses the volume:', 'loses', shown.loses),
        shown.gains && example('A node with these labels gains it:', 'gains', shown.gains),
        shown.facts && h('p', { class: 'facts' }, `Relying on these facts: ${shown.facts}.`),
        verdict && !verdict.allowed && [h('h4', {}, 'What the policy answers'), message(verdict.message)],
        verdict && warnings(verdict.warnings),
        verdict && codes(verdict.findings),
      ]
        .flat(2)
        .filter(Boolean),
    );
  }

  showMap(reached) {
    const id = 'volumes-nodes';
    const names = heading(id, 'Nodes');
    if (!reached || reached.message) {
      const text = this.waits
        ? 'The nodes are being read.'
        : this.nodes.length === 0
          ? 'Paste what `kubectl get nodes -o yaml` prints into “Nodes” below, or take a sample. Each node is then drawn in its zone.'
          : 'The nodes are drawn when everything above can be read.';
      this.map.replaceChildren(names, h('p', { class: 'sentence' }, said(text)));
      return;
    }
    const changes = reached.nodes.map(({ change }) => change);
    const signature = changes.join();
    if (signature === this.drawn && this.drawnNodes === this.nodes) return;
    [this.drawn, this.drawnNodes] = [signature, this.nodes];
    this.map.replaceChildren(heading(id, 'Nodes'), legend(changes), draw(this.nodes, changes, this.places));
  }

  showAccepting({ asked, settings, verdict, found, reached }) {
    this.accepting.inert = false;
    this.accepting.ariaBusy = 'false';
    const head = heading('volumes-accepting', 'Settings that would accept it');
    if (!verdict) {
      this.accepting.replaceChildren(head, h('p', { class: 'sentence' }, 'They are shown when everything above can be read.'));
      return;
    }
    if (verdict.allowed) {
      this.accepting.replaceChildren(head, h('p', { class: 'sentence' }, 'The settings above accept it.'));
      return;
    }
    const accepted = candidates({ settings: settings.value, found, nodes: this.nodes, changes: reached?.nodes ?? [], before: asked.request })
      .map((candidate) => ({ ...candidate, yaml: compact(candidate.settings) }))
      .filter(({ settings: tried }) => validateSettings(json(tried)).valid && judge(asked, json(tried)).allowed);
    const use = (yaml) => () => {
      this.write('settings', `${yaml}\n`);
      this.panel.querySelector('.samples').scrollIntoView({ block: 'start' });
    };
    this.accepting.replaceChildren(
      head,
      h('p', { class: 'sentence' }, 'Each of these was tried: the library accepts the change with it. Read what it means first.'),
      h(
        'div',
        { class: 'choices' },
        accepted.map(({ yaml, means }) =>
          h('div', { class: 'choice' }, h('p', {}, said(means)), h('pre', { tabindex: 0, 'aria-label': 'Settings' }, yaml), h('button', { type: 'button', click: use(yaml) }, 'Use these settings')),
        ),
      ),
      accepted.length === 0 ? h('p', {}, 'None of the simple ones do.') : '',
    );
  }
}

// What happens to the nodes that are there, next to the example, which may be a node that is not.
function counted(nodes) {
  const said = (verb, change) => {
    const count = nodes.filter((node) => node.change === change).length;
    return count === 0 ? `none ${verb}s` : count === 1 ? `1 ${verb}s` : `${count.toLocaleString('en')} ${verb}`;
  };
  const of = nodes.length === 1 ? '1 node' : `${nodes.length.toLocaleString('en')} nodes`;
  return `Of your ${of}, ${said('lose', 'loses')} it and ${said('gain', 'gains')} it.`;
}

// Settings as a person would write them: requirements and short lists on one line.
function compact(settings) {
  const document = new Document(settings);
  visit(document, {
    Map(_, map) {
      if (map.items.some(({ key }) => key.value === 'operator')) map.flow = true;
    },
    Seq(_, list) {
      if (list.items.every(isScalar)) list.flow = true;
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false }).trimEnd();
}

function lineOf(text, line) {
  let from = 0;
  for (let at = 1; at < line; at += 1) from = text.indexOf('\n', from) + 1;
  const end = text.indexOf('\n', from);
  return { from, to: end < 0 ? text.length : end };
}

function topologyOf(settings) {
  const facts = settings.value?.volumeNodeAffinity?.topology;
  if (!facts || typeof facts !== 'object') return '{}';
  const { fromLiveNodes: _of, ...stated } = facts;
  return json(stated);
}

function request({ before, after }, objects) {
  const name = objects.after.value?.metadata?.name;
  const of = JSON.stringify(typeof name === 'string' ? name : 'volume');
  return `{"uid":"1","kind":{"group":"","version":"v1","kind":"${KIND}"},"resource":{"group":"","version":"v1","resource":"persistentvolumes"},"operation":"UPDATE","name":${of},"userInfo":{"username":"you"},"oldObject":${before},"object":${after}}`;
}

// Whether the verdict can depend on nodes, and not only name them.
function needsNodes(settings) {
  const { volumeNodeAffinity: rule, ...others } = settings ?? {};
  const own = ['allow', 'enforcement', 'exempt', 'topology'];
  return Object.keys(others).length > 0 || rule?.topology?.fromLiveNodes || Object.keys(rule ?? {}).some((key) => !own.includes(key));
}

function judge({ request: text, cluster }, settings) {
  return check(text, settings, cluster ? { cluster } : {});
}

// Settings to try, from the one that promises most to the one that promises least.
function candidates({ settings, found, nodes, changes, before }) {
  const base = settings?.volumeNodeAffinity ?? {};
  const withRule = (rule) => ({ ...settings, volumeNodeAffinity: { ...base, ...rule } });
  const all = [];
  const facts = base.topology ?? {};
  const zones = zonesOf(nodes);
  if (Object.keys(zones).length > 0) {
    all.push({ settings: withRule({ topology: { ...facts, fromLiveNodes: true } }), means: 'The policy reads from your nodes in which region each zone lies.' });
    all.push({ settings: withRule({ topology: { ...facts, zones } }), means: 'You state in which region each zone lies. The policy then does not need to read nodes.' });
  }
  const implied = implication(JSON.parse(before));
  // Where a node that is there loses the volume, the statement is false.
  if (implied && !changes.some(({ change }) => change === 'loses')) {
    all.push({
      settings: withRule({ topology: { ...facts, implications: [...(facts.implications ?? []), implied] } }),
      means: 'You state that every node of the first kind is one of the second kind. Check that this is true.',
    });
  }
  if (nodes.length > 0) {
    all.push({ settings: withRule({ judgeBy: 'liveNodes' }), means: 'Only the nodes count that are in the cluster now. A node that joins later may still lose the volume.' });
  }
  if (found.relation) {
    const allow = [...new Set([...(Array.isArray(base.allow) ? base.allow : ['widened']), found.relation])];
    all.push({ settings: withRule({ allow }), means: `Every change that is \`${found.relation}\` is accepted, whatever nodes it takes the volume from.` });
  }
  return all;
}

function zonesOf(nodes) {
  const regions = {};
  for (const { labels } of nodes) {
    const [zone, region] = [labels?.['topology.kubernetes.io/zone'], labels?.['topology.kubernetes.io/region']];
    if (typeof zone !== 'string' || typeof region !== 'string') continue;
    (regions[region] ??= new Set()).add(zone);
  }
  return Object.fromEntries(Object.entries(regions).sort().map(([region, zones]) => [region, [...zones].sort()]));
}

// That each node which the old affinity names also has what the new one asks for: one term each, about other keys.
function implication({ oldObject, object }) {
  const term = (volume) => {
    const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms;
    const expressions = Array.isArray(terms) && terms.length === 1 ? terms[0]?.matchExpressions : undefined;
    return Array.isArray(expressions) && expressions.length > 0 ? { matchExpressions: expressions } : undefined;
  };
  const [from, to] = [term(oldObject), term(object)];
  const keys = (of) => of.matchExpressions.map((expression) => expression?.key);
  return from && to && !keys(from).some((key) => keys(to).includes(key)) ? { if: from, then: to } : undefined;
}
