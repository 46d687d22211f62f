// The most characters of one document: some times what an API server takes, a fraction of what fills wasm's memory.
const MOST = 8 * 1024 * 1024;

// The same of all objects of a cluster: some times what the nodes and volumes of a large one take.
const MOST_OF_CLUSTER = 16 * MOST;

// Whether a call went in and has not come back. It never will after a trap or a stack that ran out: what such a call
// leaves in memory is half of something, so the next one begins with a fresh instance.
let entered = false;

function answer(judge, ...texts) {
  if (entered) wasm.__wbg_reset_state();
  entered = true;
  const json = judge(...texts);
  entered = false;
  return JSON.parse(json);
}

// A document as JSON text. Whatever code of the caller runs on the way, getters and `toJSON`, runs here, outside wasm.
function text(name, value, most = MOST) {
  const json = typeof value === 'string' ? value : written(name, value);
  if (json.length > most) throw new TypeError(`\`${name}\` has ${json.length} characters; at most ${most} are read`);
  // Half of a surrogate pair has no bytes. It would become another character on the way in; a control character is what
  // no JSON text holds, so that the place is named as unreadable.
  return json.replace(/\p{Surrogate}/gu, '\u0000');
}

function written(name, value) {
  if (value === null || typeof value !== 'object') {
    const kind = value === null ? 'null' : value === undefined ? 'missing' : `a ${typeof value}`;
    throw new TypeError(`\`${name}\` is ${kind}; it must be an object or a JSON text`);
  }
  let json;
  try {
    json = JSON.stringify(value, exact);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'its own code threw';
    throw new TypeError(`\`${name}\` cannot be written as JSON: ${why}`, { cause });
  }
  if (json === undefined) throw new TypeError(`\`${name}\` cannot be written as JSON: its \`toJSON\` gives nothing`);
  return json;
}

// Passes only what JSON can express without silently turning it into something else.
function exact(key, value) {
  const kind = Object.prototype.toString.call(value);
  const problem =
    typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint'
      ? `is a ${typeof value}`
      : kind === '[object Map]' || kind === '[object Set]'
        ? `is a ${kind.slice(8, -1)}; plain objects and arrays are read`
        : typeof value === 'number' && !Number.isFinite(value)
          ? `is ${value}`
          : Number.isInteger(value) && !Number.isSafeInteger(value)
            ? 'is a number beyond 2^53, which JavaScript has rounded; pass the JSON text instead'
            : undefined;
  if (problem) throw new TypeError(`\`${key}\` ${problem}`);
  return value;
}

// What is not understood would silently not be used.
function clusterIn(options) {
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    throw new TypeError('`options` must be an object, as in `{ cluster: [] }`');
  }
  const unknown = Object.keys(options).find((key) => key !== 'cluster');
  if (unknown !== undefined) throw new TypeError(`\`options.${unknown}\` is not a known option; known: \`cluster\``);
  const { cluster } = options;
  return cluster === undefined ? undefined : text('cluster', cluster, MOST_OF_CLUSTER);
}

function check(request, settings, options = {}) {
  return answer(wasm.check, text('request', request), text('settings', settings), clusterIn(options));
}

function validateSettings(settings) {
  return answer(wasm.validateSettings, text('settings', settings));
}

function relation(before, after, topology = '{}') {
  return answer(wasm.relation, text('before', before), text('after', after), text('topology', topology));
}

function nodeChanges(before, after, nodes) {
  return answer(wasm.nodeChanges, text('before', before), text('after', after), text('nodes', nodes, MOST_OF_CLUSTER));
}

function tolerates(tolerations, taint) {
  return answer(wasm.tolerates, text('tolerations', tolerations), text('taint', taint));
}
