// The whole state in the fragment of the address, compressed. A fragment is never sent to a server.

const VERSION = '#1.';

async function through(bytes, stream) {
  const done = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(done).arrayBuffer());
}

export async function written(state) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'));
  let binary = '';
  for (let at = 0; at < packed.length; at += 0x8000) binary += String.fromCharCode(...packed.subarray(at, at + 0x8000));
  return VERSION + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The state that a fragment holds; undefined where it holds none, or a broken one. */
export async function read(fragment) {
  if (!fragment.startsWith(VERSION)) return undefined;
  try {
    const binary = atob(fragment.slice(VERSION.length).replaceAll('-', '+').replaceAll('_', '/'));
    const packed = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream('deflate-raw'))));
    return state !== null && typeof state === 'object' ? state : undefined;
  } catch {
    return undefined;
  }
}
