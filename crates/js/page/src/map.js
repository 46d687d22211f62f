// Draws nodes by region and zone: each keeps, loses, gains or never had the volume.

import { h, svg } from './dom.js';

export const CHANGES = ['loses', 'gains', 'keeps', 'never'];
export const WORDS = { loses: 'loses', gains: 'gains', keeps: 'keeps', never: 'never had' };

// Up to so many nodes are shown by name.
const FEW = 60;
// A small node is so wide, and so many are in a row.
const STEP = 10;

const ZONES = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGIONS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

/** Nodes by region and zone, both in their order. */
export function places(nodes) {
  const regions = new Map();
  nodes.forEach((node, index) => {
    const first = (keys) => keys.map((key) => node.labels?.[key]).find((value) => typeof value === 'string') ?? '';
    const region = first(REGIONS);
    const zone = first(ZONES);
    if (!regions.has(region)) regions.set(region, new Map());
    const zones = regions.get(region);
    if (!zones.has(zone)) zones.set(zone, []);
    zones.get(zone).push(index);
  });
  const ordered = (map) => [...map].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return ordered(regions).map(([region, zones]) => ({ region, zones: ordered(zones).map(([zone, members]) => ({ zone, members })) }));
}

/** A mark for each change: it differs in shape too, for those who do not tell the colours apart. */
export function mark(change) {
  return svg('svg', { class: `mark ${change}`, viewBox: '0 0 10 10', width: 12, height: 12, 'aria-hidden': 'true' }, svg('path', { d: shape(change, 0, 0) }));
}

function shape(change, x, y) {
  switch (change) {
    case 'keeps':
      return `M${x + 1} ${y + 1}h8v8h-8z`;
    case 'loses':
      return `M${x + 1} ${y + 2.500}l1.500 -1.500l2.500 2.500l2.500 -2.500l1.500 1.500l-2.500 2.500l2.500 2.500l-1.500 1.500l-2.500 -2.500l-2.500 2.500l-1.500 -1.500l2.500 -2.500z`;
    case 'gains':
      return `M${x + 4} ${y + 1}h2v3h3v2h-3v3h-2v-3h-3v-2h3z`;
    default:
      return `M${x + 3.500} ${y + 3.500}h3v3h-3z`;
  }
}

/** The counts of each change, which are the legend too. */
export function legend(changes) {
  const counts = Object.fromEntries(CHANGES.map((change) => [change, 0]));
  for (const change of changes) counts[change] += 1;
  return h(
    'ul',
    { class: 'legend' },
    CHANGES.map((change) => h('li', { class: change }, mark(change), h('b', {}, counts[change].toLocaleString('en')), ` ${WORDS[change]}`)),
  );
}

/** The drawing. `changes` holds one for each node. Regions in which something changes come first. */
export function draw(nodes, changes, grouped) {
  const moves = ({ zones }) => zones.some(({ members }) => members.some((index) => changes[index] === 'loses' || changes[index] === 'gains'));
  const ordered = [...grouped.filter(moves), ...grouped.filter((region) => !moves(region))];
  const named = nodes.length <= FEW;
  return h(
    'div',
    { class: 'regions' },
    ordered.map(({ region, zones }) =>
      h(
        'section',
        { class: 'region' },
        h('h4', {}, region ? h('span', { class: 'what' }, 'region ') : '', region || 'no region'),
        h(
          'div',
          { class: named ? 'zones' : 'zones many' },
          zones.map(({ zone, members }) => {
            const counted = CHANGES.map((change) => [change, members.filter((index) => changes[index] === change).length]).filter(([, count]) => count > 0);
            return h(
              'section',
              { class: 'zone' },
              h('h5', {}, zone ? h('span', { class: 'what' }, 'zone ') : '', zone || 'no zone'),
              named ? list(nodes, changes, members) : squares(changes, members),
              named ? '' : h('p', { class: 'counts' }, counted.map(([change, count], at) => [at > 0 ? ', ' : '', h('span', { class: change }, `${count.toLocaleString('en')} ${WORDS[change]}`)])),
            );
          }),
        ),
      ),
    ),
  );
}

function list(nodes, changes, members) {
  return h(
    'ul',
    { class: 'nodes' },
    members.map((index) =>
      h('li', { class: changes[index] }, mark(changes[index]), h('span', { class: 'name' }, String(nodes[index].name)), h('span', { class: 'word' }, WORDS[changes[index]])),
    ),
  );
}

// Many nodes: one path for each change.
function squares(changes, members) {
  const across = Math.max(8, Math.min(30, Math.ceil(Math.sqrt(members.length * 2))));
  const paths = Object.fromEntries(CHANGES.map((change) => [change, '']));
  const order = members.map((index) => changes[index]).sort((one, other) => CHANGES.indexOf(one) - CHANGES.indexOf(other));
  order.forEach((change, at) => {
    paths[change] += shape(change, (at % across) * STEP, Math.floor(at / across) * STEP);
  });
  const [width, height] = [across * STEP, Math.ceil(members.length / across) * STEP];
  return svg(
    'svg',
    { class: 'squares', viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true' },
    CHANGES.filter((change) => paths[change]).map((change) => svg('path', { class: change, d: paths[change] })),
  );
}
