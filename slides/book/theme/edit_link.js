// A text in the fragment of an address, compressed: a link carries what was edited, and no server sees it.

const KEY = '#edit=', LONGEST = 1 << 20;  // characters of a text

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream));

export async function pack(value) {
  const bytes = new Uint8Array(await through(JSON.stringify(value), new CompressionStream('deflate-raw')).arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return KEY + btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

// At most LONGEST characters of what comes, so that no link fills the memory.
async function unpacked(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read())
    if ((text += part.value).length > LONGEST) throw new Error('it is too long');
  return text;
}

// What a fragment carries; null if it carries nothing. Throws an Error if it is damaged.
export async function unpack(hash) {
  if (!hash.startsWith(KEY)) return null;
  const text = atob(hash.slice(KEY.length).replaceAll('-', '+').replaceAll('_', '/')), value = JSON.parse(await unpacked(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  if (typeof value?.text !== 'string') throw new Error('it has no text');
  return value;
}
