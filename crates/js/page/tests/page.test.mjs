// The built page in a real Chromium: what it answers, how it is used without a mouse, on a phone and offline, and that it sends
// nothing.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { check, nodeChanges } from '../../../../target/npm/index.js';
import { serve } from '../serve.mjs';
import { read } from '../src/permalink.js';
import { manyNodes, samples } from '../src/samples.js';
import { Chromium } from './chromium.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const axe = readFileSync(here('../node_modules/axe-core/axe.min.js'), 'utf8');
const TABS = Object.keys(samples);
const PHONE = { width: 375, height: 812, phone: true };

let browser;
let served;

before(async () => {
  served = await serve(here('../../../../target/page'));
  browser = await Chromium.start();
});

after(async () => {
  await browser?.stop();
  served?.server.closeAllConnections();
  served?.server.close();
});

// A test with a page of its own, which complains of nothing, breaks no policy and asks for nothing but its files.
function inPage(name, options, body) {
  test(name, async (context) => {
    const page = await browser.page(options);
    try {
      await page.open(served.address + (options.fragment ?? ''));
      await body(page, context);
      assert.deepEqual(await page.run(() => window.violations), []);
      assert.deepEqual(page.complaints, []);
      const foreign = page.asked.filter((address) => !address.startsWith(served.address) && !address.startsWith('about:') && !address.startsWith('data:'));
      assert.deepEqual(foreign, []);
    } finally {
      await page.close();
    }
  });
}

const show = (page, tab) => page.run((tab) => document.getElementById(`tab-${tab}`).click(), tab);

const choose = (page, tab, name) =>
  page.run((tab, name) => [...document.querySelectorAll(`#${tab} .samples button`)].find(({ textContent }) => textContent === name).click(), tab, name);

const focus = (page, tab, document_) =>
  page.run((tab, name) => document.querySelector(`#${tab} [data-document="${name}"] .editor`).shadowRoot.querySelector('.cm-content').focus(), tab, document_);

// Replaces the text of an editor, as a person who selects all and pastes.
async function write(page, tab, name, text) {
  await focus(page, tab, name);
  await page.run(
    (tab, name, text) => {
      const content = document.querySelector(`#${tab} [data-document="${name}"] .editor`).shadowRoot.querySelector('.cm-content');
      content.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', ctrlKey: true, keyCode: 65, bubbles: true }));
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      content.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    },
    tab,
    name,
    text,
  );
}

// What the page shows of an answer.
const shown = (page, tab) =>
  page.run((tab) => {
    const answer = document.querySelector(`#${tab} .answer`);
    const texts = (selector) => [...answer.querySelectorAll(selector)].map(({ textContent }) => textContent);
    return {
      word: answer.querySelector('.badge').textContent,
      lines: texts('.headline, .finding .details li'),
      warnings: texts('.warnings li'),
      codes: texts('.codes code'),
      relation: answer.querySelector('.relation')?.textContent,
    };
  }, tab);

const documentsOf = ({ documents }) => (typeof documents === 'function' ? documents() : documents);

// The request that a cluster would send, and the cluster.
function question(tab, documents) {
  const value = (name) => (documents[name] ? parse(documents[name]) : undefined);
  const of = { volumes: 'after', tolerations: 'pod', drivers: 'after', requests: 'request' }[tab];
  const object = value(of);
  const given = { cluster: value(tab === 'volumes' ? 'nodes' : 'cluster') };
  if (object.kind === 'AdmissionReview') return [object, value('settings'), given];
  const [group, version] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  const oldObject = value('before');
  const { name, namespace } = object.metadata;
  const kind = { group, version, kind: object.kind };
  const request = { uid: '1', operation: oldObject ? 'UPDATE' : 'CREATE', kind, name, namespace, userInfo: { username: 'you' }, object, oldObject };
  return [request, value('settings'), given];
}

inPage('every sample gives the answer of the library', {}, async (page) => {
  for (const tab of TABS) {
    await show(page, tab);
    for (const sample of samples[tab]) {
      const documents = documentsOf(sample);
      const verdict = check(...question(tab, documents));
      await choose(page, tab, sample.name);
      const plain = (line) => line.trim().replaceAll('`', '');
      const lines = (verdict.message ?? '').split('\n').filter(Boolean).map(plain);
      await page.until((tab, word) => document.querySelector(`#${tab} .answer .badge`)?.textContent === word, tab, verdict.allowed ? 'accepted' : 'refused');
      if (tab === 'volumes') {
        const { nodes } = nodeChanges(documents.before && parse(documents.before), parse(documents.after), parse(documents.nodes));
        const counts = ['loses', 'gains', 'keeps', 'never'].map((change) => nodes.filter((node) => node.change === change).length.toLocaleString('en'));
        await page.until((counts) => JSON.stringify([...document.querySelectorAll('#volumes .legend b')].map(({ textContent }) => textContent)) === counts, JSON.stringify(counts));
      }
      await page.until(
        (tab, count) => document.querySelectorAll(`#${tab} .headline, #${tab} .finding .details li`).length === count,
        tab,
        lines.length,
      );
      const seen = await shown(page, tab);
      assert.deepEqual(seen.lines, lines, sample.name);
      assert.deepEqual(seen.warnings, verdict.warnings.map(plain), sample.name);
      assert.deepEqual(seen.codes, verdict.findings, sample.name);
      if (tab === 'volumes') assert.equal(seen.relation, verdict.annotations.relation, sample.name);
    }
  }
});

inPage('the settings that are offered accept the change, and are used with one click', {}, async (page) => {
  for (const sample of samples.volumes.slice(0, 3)) {
    await choose(page, 'volumes', sample.name);
    const [request, , cluster] = question('volumes', documentsOf(sample));
    await page.until(() => document.querySelectorAll('.choice pre').length > 0 && document.querySelector('#volumes .zone'));
    await new Promise((resolve) => setTimeout(resolve, 400));
    const offered = await page.run(() => [...document.querySelectorAll('.choice pre')].map(({ textContent }) => textContent));
    assert.ok(offered.length >= 1, sample.name);
    for (const settings of offered) assert.ok(check(request, parse(settings), cluster).allowed, `${sample.name}: ${settings}`);
  }
  await page.run(() => document.querySelector('.choice button').click());
  await page.until(() => document.querySelector('#volumes .badge').textContent === 'accepted');
});

inPage('the number line marks the example where the policy ends', {}, async (page) => {
  await show(page, 'tolerations');
  const bands = () => page.run(() => [...document.querySelectorAll('#tolerations .band svg[role=img]')].map((band) => band.getAttribute('aria-label')));
  assert.deepEqual(await bands(), ['pod tolerates: 0 to 19', 'policy allows: 0 to 4']);
  assert.equal(await page.run(() => document.querySelector('#tolerations text.pin').textContent), 'example: 5');
  await choose(page, 'tolerations', 'Cost and disks');
  assert.deepEqual(await bands(), [
    'pod tolerates: 0 to 99',
    'policy allows: 0 to 199',
    'policy denies: nothing',
    'pod tolerates: 3001 and more',
    'policy allows: 2001 and more',
    'policy denies: 9001 and more',
  ]);
});

inPage('mistakes are shown at their line', {}, async (page) => {
  const problem = (name) => page.run((name) => document.querySelector(`#volumes [data-document="${name}"] .problem:not([hidden])`)?.textContent, name);
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity:\n  judgeBy: anyNode\n  allowed: [widened]\n');
  assert.match(await problem('settings'), /^Line 3: volumeNodeAffinity\.allowed: is not a known key; expected one of /);
  await page.until(() => document.querySelector('#volumes [data-document="settings"] .editor').shadowRoot.querySelector('.cm-lint-marker-error'));
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity:\n  judgeBy: everyNode\n');
  assert.match(await problem('settings'), /^Line 2: volumeNodeAffinity\.judgeBy: must be /);
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity: {\n');
  assert.match(await problem('settings'), /^Line \d: this is not YAML: /);
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity: {}\n');
  assert.equal(await problem('settings'), undefined);
  await write(page, 'volumes', 'after', 'apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: data}\nspec:\n  nodeAffinity: 5\n');
  assert.match(await problem('after'), /^Line 5: spec\.nodeAffinity: must be an object, but is a number/);
  await write(page, 'volumes', 'nodes', 'apiVersion: v1\nkind: List\nitems:\n- kind: Node\n  metadata: {name: a}\n- kind: Node\n  metadata: {labels: {a: b}}\n');
  await write(page, 'volumes', 'after', 'apiVersion: v1\nkind: PersistentVolume\n');
  await page.until(() => /^Line 6: metadata\.name: is missing/.test(document.querySelector('#volumes [data-document="nodes"] .problem').textContent));
});

inPage('settings are completed from their schema', {}, async (page) => {
  const options = (text) =>
    page.until(
      (text) => {
        const { shadowRoot } = document.querySelector('#volumes [data-document="settings"] .editor');
        return [...shadowRoot.querySelectorAll('.cm-completionLabel')].some(({ textContent }) => textContent === text);
      },
      text,
    );
  const typed = () =>
    page.run(() => {
      const { shadowRoot } = document.querySelector('#volumes [data-document="settings"] .editor');
      return [...shadowRoot.querySelectorAll('.cm-line')].map(({ textContent }) => textContent).join('\n');
    });
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity:\n');
  await page.key('End', { modifiers: 2 });
  await page.type('  jud');
  await options('judgeBy');
  await new Promise((resolve) => setTimeout(resolve, 150));
  await page.key('Enter');
  await page.until(() => document.querySelector('#volumes [data-document="settings"] .editor').shadowRoot.textContent.includes('judgeBy: '));
  await page.type('l');
  await options('liveNodes');
  await new Promise((resolve) => setTimeout(resolve, 150));
  await page.key('Enter');
  await page.until(() => document.querySelector('#volumes [data-document="settings"] .editor').shadowRoot.textContent.includes('liveNodes'));
  assert.equal((await typed()).trimEnd(), 'volumeNodeAffinity:\n  judgeBy: liveNodes');
});

// As long as what `kubectl` prints: with annotations and a status.
function long(nodes) {
  const more = '    annotations:\n      volumes.kubernetes.io/controller-managed-attach-detach: "true"\n      csi.volume.kubernetes.io/nodeid: \'{"disk.csi.example.com":"x"}\'\n';
  const status = `  spec:\n    podCIDR: 10.0.0.0/24\n  status:\n    capacity: {cpu: "8", memory: 32Gi}\n    images:\n${'    - names: [registry.example.com/a:1]\n      sizeBytes: 1000\n'.repeat(8)}`;
  return nodes.replaceAll('    labels:\n', `${more}    labels:\n`).replace(/(?<=\n {6}kubernetes\.io\/hostname: .*\n)/g, status);
}

inPage('5,000 pasted nodes', {}, async (page, context) => {
  const before = Date.now();
  const text = long(manyNodes(5000));
  await choose(page, 'volumes', '5,000 nodes');
  await page.until(() => document.querySelector('#volumes .squares'));
  const counts = () => page.run(() => [...document.querySelectorAll('#volumes .legend b')].map(({ textContent }) => textContent));
  const expected = await counts();
  assert.notEqual(expected[0], '0');
  await choose(page, 'volumes', 'A zone is removed');
  await page.until(() => document.querySelector('#volumes .nodes'));
  await write(page, 'volumes', 'nodes', text);
  const sample = documentsOf(samples.volumes.at(-1));
  await page.until(() => document.querySelector('#volumes .squares'));
  const pasted = Date.now() - before;
  await write(page, 'volumes', 'before', sample.before);
  await write(page, 'volumes', 'after', sample.after);
  assert.deepEqual(await counts(), expected);
  // From the keystroke to the next picture, and what of it is the answer.
  await page.run(() => {
    window.frames_ = [];
    addEventListener('beforeinput', () => {
      const start = performance.now();
      requestAnimationFrame(() => setTimeout(() => frames_.push(performance.now() - start)));
    }, true);
    performance.clearMeasures();
  });
  await focus(page, 'volumes', 'after');
  await page.key('End', { modifiers: 2 });
  await page.key('ArrowUp');
  for (let turn = 1; turn <= 20; turn += 1) {
    await page.type(turn === 1 ? ' # ' : 'x');
    await page.until((turn) => frames_.length >= turn, turn);
  }
  const times = await page.run(() => performance.getEntriesByName('answer').map(({ duration }) => duration));
  const frames = await page.run(() => frames_);
  assert.ok(times.length >= 20, `${times.length} answers`);
  const of = (list) => {
    const ordered = [...list].sort((one, other) => one - other).map((time) => time.toFixed(1));
    return `${ordered[Math.floor(ordered.length / 2)]} ms (fastest ${ordered[0]} ms)`;
  };
  context.diagnostic(`5,000 nodes: an edit is answered in ${of(times)} and on the screen after ${of(frames)}; medians of 20`);
  context.diagnostic(`5,000 nodes: both lists, ${(text.length / 1e6).toFixed(1)} MB pasted, were read and drawn within ${pasted} ms`);
});

inPage('a link brings back the whole state', {}, async (page) => {
  await write(page, 'volumes', 'settings', 'volumeNodeAffinity:\n  allow: [widened, shifted] # für später\n');
  await show(page, 'tolerations');
  await choose(page, 'tolerations', 'Inference on GPU tiers');
  await page.run(() => document.getElementById('link').click());
  await page.until(() => location.hash.length > 10 && document.getElementById('said').textContent);
  const hash = await page.run(() => location.hash);
  const { tab, documents } = await read(hash);
  assert.equal(tab, 'tolerations');
  assert.equal(documents.volumes.settings, 'volumeNodeAffinity:\n  allow: [widened, shifted] # für später\n');
  assert.deepEqual(documents.tolerations, documentsOf(samples.tolerations[2]));
  const again = await browser.page();
  await again.open(served.address + hash);
  assert.equal(await again.run(() => document.querySelector('[role=tab][aria-selected=true]').textContent), 'Tolerations');
  assert.deepEqual(await shown(again, 'tolerations'), await shown(page, 'tolerations'));
  await show(again, 'volumes');
  await again.until(() => document.querySelector('#volumes .badge')?.textContent === 'accepted');
  // The address changes while the page is open.
  await again.run((hash) => (location.hash = hash), '#1.not-a-link');
  await again.until(() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Volumes');
  assert.deepEqual([await again.run(() => window.violations), again.complaints], [[], []]);
  await again.close();
});

test('links that are broken are none', async () => {
  for (const fragment of ['', '#', '#2.abc', '#1.', '#1.%%%', '#1.AAAA']) assert.equal(await read(fragment), undefined, fragment);
});

const accessible = async (page, what) => {
  await page.inject(axe);
  const found = await page.run(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | ')}`);
  });
  assert.deepEqual(found, [], what);
};

const everyTab = async (page, what) => {
  for (const tab of TABS) {
    await show(page, tab);
    await page.until((tab) => document.querySelector(`#${tab} .answer .badge`), tab);
    if (tab === 'volumes') await page.until(() => document.querySelector('.choice') && document.querySelector('#volumes .zone'));
    await accessible(page, `${tab}, ${what}`);
  }
};

inPage('axe-core finds nothing, and light and dark can be chosen', {}, async (page) => {
  const colour = () => page.run(() => getComputedStyle(document.body).backgroundColor);
  await everyTab(page, 'light');
  const light = await colour();
  await page.run(() => document.getElementById('theme').click());
  const dark = await colour();
  assert.notEqual(dark, light);
  await everyTab(page, 'dark');
  // The choice stays.
  await page.open(served.address);
  assert.equal(await colour(), dark);
  assert.equal(await page.run(() => document.getElementById('theme').getAttribute('aria-pressed')), 'true');
});

inPage('a phone shows every sample without scrolling sideways', PHONE, async (page) => {
  for (const tab of TABS) {
    await show(page, tab);
    for (const { name } of samples[tab]) {
      await choose(page, tab, name);
      const [width, wide] = await page.run(() => [
        document.documentElement.scrollWidth,
        [...document.querySelectorAll('.card, .pane')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className),
      ]);
      assert.ok(width <= PHONE.width, `${tab}, ${name}: ${width}`);
      assert.deepEqual(wide, [], `${tab}, ${name}`);
    }
    await choose(page, tab, samples[tab][0].name);
  }
  await everyTab(page, 'phone');
});

inPage('it is used without a mouse', {}, async (page) => {
  const focused = () =>
    page.run(() => {
      const { activeElement } = document;
      const inner = activeElement.shadowRoot?.activeElement;
      return inner ? inner.getAttribute('aria-label') : activeElement.textContent.trim();
    });
  const order = [];
  for (let step = 0; step < 40 && order.at(-1) !== 'Settings of the policy'; step += 1) {
    await page.key('Tab');
    order.push(await focused());
  }
  // Each editor takes one step: Tab leaves it.
  assert.deepEqual(order, ['Copy link', 'Dark', 'Volumes', ...samples.volumes.map(({ name }) => name), 'Before', 'After', 'Nodes', 'Settings of the policy']);
  await page.run(() => document.getElementById('tab-volumes').focus());
  for (const [key, tab] of [['ArrowRight', 'Tolerations'], ['ArrowRight', 'CSIDriver'], ['End', 'Any request'], ['ArrowRight', 'Volumes'], ['ArrowLeft', 'Any request'], ['Home', 'Volumes']]) {
    await page.key(key);
    assert.equal(await focused(), tab);
    assert.equal(await page.run(() => [...document.querySelectorAll('main > section:not([hidden])')].map((one) => document.getElementById(one.getAttribute('aria-labelledby')).textContent).join()), tab);
  }
  await page.key('Tab');
  await page.key('Tab');
  await page.key('Enter', { text: '\r' });
  await page.until(() => document.querySelector('#volumes .samples button[aria-pressed=true]')?.textContent === 'To the next disk generation');
});

inPage('nothing is sent, whatever is typed', {}, async (page) => {
  const asked = page.asked.length;
  for (const tab of TABS) {
    await show(page, tab);
    for (const { name } of samples[tab].slice(0, 2)) await choose(page, tab, name);
  }
  await write(page, 'requests', 'request', 'kind: Pod\n');
  await new Promise((resolve) => setTimeout(resolve, 700));
  // The browser may still read the files of the page, for its icon and to keep them.
  const files = ['', ...readdirSync(here('../../../../target/page'))].map((name) => served.address + name);
  assert.deepEqual(page.asked.slice(asked).filter((address) => !files.includes(address)), []);
  // Nor could anything be: the policy forbids it.
  const refused = await page.run(() => fetch('icon.svg').then(() => 'sent', () => 'refused'));
  assert.equal(refused, 'refused');
  await page.run(() => (window.violations = []));
  page.complaints = [];
});

test('it works offline once it is loaded', async () => {
  const own = await serve(here('../../../../target/page'));
  const page = await browser.page();
  await page.open(own.address);
  await page.run(() => navigator.serviceWorker.ready.then(() => true));
  await page.until(async () => (await (await caches.open((await caches.keys())[0])).keys()).length >= 7);
  own.server.closeAllConnections();
  await new Promise((closed) => own.server.close(closed));
  await page.open(own.address);
  await page.until(() => document.querySelector('#volumes .zone') && document.querySelector('#volumes .badge').textContent === 'refused');
  assert.deepEqual(await page.run(() => window.violations), []);
  await page.close();
});

const golden = here('../../../cli/tests/golden/report.html');

test('the report of the command line is read everywhere, and has its styles', { skip: !existsSync(golden) }, async () => {
  for (const options of [{}, { dark: true }, PHONE]) {
    const page = await browser.page(options);
    await page.open(`file://${golden}`, { waits: false });
    assert.deepEqual(await page.run(() => window.violations), []);
    assert.notEqual(await page.run(() => getComputedStyle(document.querySelector('.card')).borderRadius), '0px');
    await accessible(page, 'report');
    assert.ok((await page.run(() => document.documentElement.scrollWidth)) <= (options.width ?? 1280));
    await page.close();
  }
});
