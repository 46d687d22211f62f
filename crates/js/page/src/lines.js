// A number line for each taint key with numbers: where the pod tolerates the taint, and where the policy allows or denies that.
// The library is asked about each threshold and about one number in each gap between two, so nothing is decided here.

import { tolerates } from 'placement-guard';

import { json } from './documents.js';
import { h, svg } from './dom.js';

const ALL_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The lines to draw, for lists of tolerations by band: `{pod, allowed, denied}`. */
export function lines(bands) {
  const all = Object.values(bands).flat();
  const isNumber = (value) => /^-?\d{1,18}$/.test(String(value ?? ''));
  const keys = [...new Set(all.filter(({ operator, key }) => key && (operator === 'Gt' || operator === 'Lt')).map(({ key }) => key))];
  return keys.flatMap((key) => {
    const of = all.filter((one) => one.key === key);
    const thresholds = [...new Set(of.map(({ value }) => value).filter(isNumber).map(String))].map(BigInt).sort((one, other) => (one < other ? -1 : 1));
    const effects = [...new Set(of.map(({ effect }) => effect).filter((effect) => ALL_EFFECTS.includes(effect)))];
    return (effects.length > 0 ? effects : ['NoSchedule']).map((effect) => line(key, effect, thresholds, bands));
  });
}

function line(key, effect, thresholds, bands) {
  // Each threshold, and the gaps below, between and above them.
  const pieces = [];
  const smallest = thresholds[0] < 0n ? undefined : 0n;
  thresholds.forEach((at, index) => {
    const before = index === 0 ? undefined : thresholds[index - 1];
    const within = before === undefined ? (smallest === undefined ? at - 1n : smallest) : before + 1n;
    if (within < at) pieces.push({ from: before, to: at, sample: within });
    pieces.push({ from: at, to: at, sample: at });
  });
  const last = thresholds.at(-1);
  pieces.push({ from: last, to: undefined, sample: last + 1n });
  const tolerated = (list, value) => tolerates(json(list), { key, value: value.toString(), effect }).tolerated;
  for (const piece of pieces) {
    for (const [band, list] of Object.entries(bands)) piece[band] = list.length > 0 && tolerated(list, piece.sample);
  }
  return { key, effect, thresholds, pieces };
}

const NAMES = { pod: 'pod tolerates', allowed: 'policy allows', denied: 'policy denies' };

/** Draws one line. `taint` is the example: `{key, value, effect}`. */
export function drawLine({ key, effect, thresholds, pieces }, bands, taint) {
  const x = scale(thresholds);
  const isMarked = taint?.key === key && taint.effect === effect && /^-?\d+$/.test(taint.value ?? '');
  const at = isMarked ? x(BigInt(taint.value)) : undefined;
  const percent = (value) => `${value.toFixed(2)}%`;
  const names = Object.keys(bands).filter((name) => name !== 'denied' || bands.denied.length > 0);
  const tone = (name, piece) => (name === 'pod' ? (piece.allowed && !piece.denied ? 'within' : 'beyond') : name);
  const rows = names.map((name) =>
    h(
      'div',
      { class: 'band' },
      h('span', { class: 'name' }, NAMES[name]),
      svg(
        'svg',
        { height: 22, width: '100%', role: 'img', 'aria-label': `${NAMES[name]}: ${words(pieces, name)}` },
        svg('line', { class: 'rail', x1: '0%', x2: '100%', y1: 11, y2: 11 }),
        pieces
          .filter((piece) => piece.from !== piece.to && piece[name])
          .map((piece) => {
            const [from, to] = [piece.from === undefined ? 0 : x(piece.from), piece.to === undefined ? 100 : x(piece.to)];
            return svg('rect', { class: tone(name, piece), x: percent(from), width: percent(to - from), y: 5, height: 12 });
          }),
        pieces
          .filter((piece) => piece.from === piece.to && piece.from !== undefined)
          .map((piece) => svg('circle', { class: piece[name] ? tone(name, piece) : 'open', cx: percent(x(piece.from)), cy: 11, r: 5 })),
        at !== undefined && svg('line', { class: 'pin', x1: percent(at), x2: percent(at), y1: 0, y2: 22 }),
      ),
    ),
  );
  const anchor = (value) => (value < 12 ? 'start' : value > 88 ? 'end' : 'middle');
  const axis = h(
    'div',
    { class: 'band axis' },
    h('span', {}),
    svg(
      'svg',
      { height: isMarked ? 44 : 22, width: '100%', 'aria-hidden': 'true' },
      thresholds.map((value) => svg('text', { x: percent(x(value)), y: 14, 'text-anchor': 'middle' }, value.toString())),
      isMarked && svg('line', { class: 'pin', x1: percent(at), x2: percent(at), y1: 18, y2: 27 }),
      isMarked && svg('text', { class: 'pin', x: percent(at), y: 40, 'text-anchor': anchor(at) }, `example: ${taint.value}`),
    ),
  );
  return h('section', { class: 'number-line' }, h('h4', {}, h('code', {}, key), ` with ${effect}`), rows, axis);
}

// Where a number is drawn, in percent. Numbers that would be too close to each other are spread out.
function scale(thresholds) {
  const numbers = thresholds.map(Number);
  const low = numbers[0] < 0 ? numbers[0] - Math.max(1, (numbers.at(-1) - numbers[0]) / 3) : 0;
  const high = numbers.at(-1) + Math.max(2, (numbers.at(-1) - low) * 0.3);
  const linear = (value) => ((Number(value) - low) / (high - low)) * 100;
  const places = [0, ...numbers.map(linear)];
  const isClose = places.some((place, at) => at > 0 && place - places[at - 1] < 9);
  if (!isClose) return (value) => Math.max(0, Math.min(100, linear(value)));
  const step = 100 / (numbers.length + 1);
  return (value) => {
    const number = Number(value);
    const above = numbers.findIndex((one) => one >= number);
    if (above < 0) return 100 - step / 2;
    if (numbers[above] === number) return step * (above + 1);
    return step * (above + 0.5);
  };
}

// The numbers of a band, for those who hear the page.
function words(pieces, name) {
  const ranges = [];
  let before;
  for (const piece of pieces) {
    const isPoint = piece.from === piece.to;
    const low = isPoint ? piece.from : piece.sample;
    const high = isPoint || piece.to === undefined ? piece.to : piece.to - 1n;
    if (piece[name] && before?.[name]) ranges.at(-1).high = high;
    else if (piece[name]) ranges.push({ low, high, isOpenBelow: piece.from === undefined && low < 0n });
    before = piece;
  }
  const said = ranges.map(({ low, high, isOpenBelow }) =>
    isOpenBelow ? (high === undefined ? 'every number' : `${high} and less`) : high === undefined ? `${low} and more` : low === high ? `${low}` : `${low} to ${high}`,
  );
  return said.join(', ') || 'nothing';
}
