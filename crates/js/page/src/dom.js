// Makes elements. Text is always set as text: nothing that is pasted becomes markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A sentence in which backticks mark code. */
export function said(text) {
  return text.split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));
}

/** Labels as `key=value`, each in a box. */
export function labels(labels) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return h('span', { class: 'label none' }, 'no labels');
  return entries.map(([key, value]) => h('span', { class: 'label' }, h('span', { class: 'key' }, key), '=', value));
}
