// Shows a verdict: the word, the sentence, the rest of the message, and warnings.

import { h, labels, said } from './dom.js';

/** The paragraphs of a message: the first line of each finding, and the lines that belong to it. */
function findings(message) {
  const all = [];
  for (const line of (message ?? '').split('\n')) {
    if (line.startsWith('  ') && all.length > 0) all.at(-1).details.push(line.trim());
    else if (line) all.push({ headline: line, details: [] });
  }
  return all;
}

export function verdictOf({ allowed, code }) {
  return allowed ? { word: 'accepted', tone: 'good' } : code === 422 ? { word: 'cannot be read', tone: 'bad' } : { word: 'refused', tone: 'bad' };
}

export function heading(id, text, verdict, extra) {
  return h('header', {}, h('h3', { id }, text), verdict && h('span', { class: `badge ${verdict.tone}` }, verdict.word), extra);
}

export function message(text) {
  return findings(text).map(({ headline, details }) => {
    const [kind, ...rest] = headline.split(': ');
    return h(
      'div',
      { class: 'finding' },
      h('p', { class: 'headline' }, rest.length > 0 ? [h('b', {}, said(`${kind}: `)), said(rest.join(': '))] : said(headline)),
      details.length > 0 && h('ul', { class: 'details' }, details.map((line) => h('li', {}, said(line)))),
    );
  });
}

export function warnings(list) {
  return list.length > 0 && h('div', { class: 'warnings' }, h('p', {}, h('b', {}, 'Warnings')), h('ul', { class: 'details' }, list.map((line) => h('li', {}, said(line)))));
}

export function codes(list) {
  return list.length > 0 && h('p', { class: 'codes' }, list.map((code) => h('code', {}, code)));
}

export function example(title, tone, of) {
  return h('div', { class: `example ${tone}` }, h('p', {}, title), h('p', {}, labels(of)));
}

/** The whole of a verdict that has nothing to add to its message. */
export function whole(id, verdict, accepted, shown) {
  return [
    heading(id, 'Answer', verdictOf(verdict)),
    verdict.allowed && h('p', { class: 'sentence' }, accepted),
    shown,
    !verdict.allowed && message(verdict.message),
    warnings(verdict.warnings),
    codes(verdict.findings),
  ];
}
