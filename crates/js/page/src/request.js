// The request of an API server about a manifest.

import { json } from './documents.js';

/** A CREATE of this object, or an UPDATE from the one before. */
export function requestOf(object, before) {
  const [group, version] = /\//.test(object?.apiVersion ?? '') ? object.apiVersion.split('/') : ['', object?.apiVersion ?? 'v1'];
  const kind = { group, version, kind: object?.kind ?? 'Pod' };
  const resource = { group, version, resource: plural(String(kind.kind)) };
  const { name, namespace } = object?.metadata ?? {};
  return json({
    uid: '1',
    kind,
    resource,
    operation: before === undefined ? 'CREATE' : 'UPDATE',
    name: typeof name === 'string' ? name : undefined,
    namespace: typeof namespace === 'string' ? namespace : undefined,
    userInfo: { username: 'you' },
    object,
    oldObject: before,
  });
}

function plural(kind) {
  const lower = kind.toLowerCase();
  return lower.endsWith('s') ? `${lower}es` : lower.endsWith('y') && !/[aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}
