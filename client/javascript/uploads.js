// SPDX-License-Identifier: Apache-2.0
// Files that are too large for a request, sent ahead of it.

export const SENT_AHEAD_BYTES = 1048576; // of a file; larger ones go ahead
const MOST_CONDITION_BYTES = 3670016;    // of those in one request together
const MOST_FILE_BYTES = 268435456;       // that any server takes
const PIECE_BYTES = 262144;
const ARGUMENTS = 0x8000;                // of one call

/** The key of a condition's bytes: copies of the condition keep them, JSON leaves them out. */
export const SOURCE = Symbol('source');

/** RangeError: a file is empty, or larger than any server takes. */
export function sizeOf(file) {
  const size = file.size ?? file.byteLength;
  if (size > 0 && size <= MOST_FILE_BYTES) return size;
  throw new RangeError(`${file.name ?? 'the file'} has ${size} bytes; files have 1 to ${MOST_FILE_BYTES}`);
}

const kindOf = (condition) => ['image', 'video', 'audio'].find((kind) => condition[kind] !== undefined);

/** A spec without the bytes of its files, for an estimate. */
export const described = (spec) => (spec.conditions?.some((one) => one[SOURCE]) ? {
  ...spec, conditions: spec.conditions.map((one) => (one[SOURCE] ? { ...one, [kindOf(one)]: '', sizeBytes: String(one[SOURCE].length) } : one)),
} : spec);

export function base64Of(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += ARGUMENTS) text += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS));
  return btoa(text);
}

/** Uploads the conditions that are too large for a request; returns a spec that names them. All stay in the spec if the server takes no files. */
export async function sendAhead(spec, upload) {
  const conditions = [];
  let left = MOST_CONDITION_BYTES;
  for (const one of spec.conditions ?? []) {
    const bytes = one[SOURCE], kind = kindOf(one);
    if (!bytes || bytes.length <= Math.min(SENT_AHEAD_BYTES, left)) {
      left -= bytes?.length ?? 0;
      conditions.push(one);
      continue;
    }
    const file = await upload(bytes).catch((error) => { if (error.http !== 404) throw error; });
    if (!file) return filled(spec);
    const { name, contentType } = file, { [kind]: inRequest, sizeBytes, ...rest } = one;
    // An uploaded MP4 is a clip unless its content type says audio.
    conditions.push({ ...rest, file: name, ...(kind === 'audio' && contentType.startsWith('video/') ? { contentType: 'audio/mp4' } : {}) });
  }
  return conditions.length ? { ...spec, conditions } : spec;
}

// The spec with the bytes of all its files; RangeError: a request has no room for them.
function filled(spec) {
  const size = spec.conditions.reduce((sum, one) => sum + (one[SOURCE]?.length ?? 0), 0);
  if (size > MOST_CONDITION_BYTES) {
    throw new RangeError(`the conditions have ${size} bytes; a request has room for ${MOST_CONDITION_BYTES}, and this server takes no files ahead of requests`);
  }
  return { ...spec, conditions: spec.conditions.map((one) => (one[SOURCE] ? { ...one, [kindOf(one)]: base64Of(one[SOURCE]) } : one)) };
}

async function* piecesOf(file) {
  if (!file.slice) return yield* file.stream(); // of a disk
  for (let at = 0; at < sizeOf(file); at += PIECE_BYTES) {
    const piece = file.slice(at, at + PIECE_BYTES);
    yield new Uint8Array(piece instanceof Blob ? await piece.arrayBuffer() : piece);
  }
}

/** The upload of a file. Each `post` starts at the file's beginning and returns the answer's status and text. */
export class Outgoing {
  #file; #onProgress; #failure;

  constructor(file, onProgress) {
    this.#file = file;
    this.#onProgress = onProgress;
  }

  /** Throws what reading the file, or `onProgress`, has thrown. */
  check() { if (this.#failure) throw this.#failure; }

  #tell(sent) {
    try {
      this.#onProgress(sent, sizeOf(this.#file));
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  // A browser's fetch reports no progress of uploads; Node has no XMLHttpRequest.
  async post(url, { headers, fetch, signal }) {
    const answer = await (globalThis.XMLHttpRequest ? this.#send(url, headers, signal) : this.#fetch(url, headers, fetch, signal));
    this.check();
    return answer;
  }

  async* #pieces() {
    let sent = 0;
    try {
      for await (const piece of piecesOf(this.#file)) {
        yield piece;
        sent += piece.length;
        this.#tell(sent);
      }
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }

  async #fetch(url, headers, fetch, signal) {
    const answer = await fetch(url, {
      method: 'POST', body: this.#pieces(), duplex: 'half', signal,
      headers: { ...headers, 'Content-Type': 'application/octet-stream', 'Content-Length': String(sizeOf(this.#file)) },
    });
    return { status: answer.status, text: await answer.text() };
  }

  #send(url, headers, signal) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', url);
      for (const [name, value] of Object.entries({ ...headers, 'Content-Type': 'application/octet-stream' })) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => {
        try { this.#tell(loaded); } catch { request.abort(); }
      };
      request.onload = () => resolve({ status: request.status, text: request.responseText });
      request.onerror = () => reject(new TypeError('the connection broke'));
      request.onabort = () => reject(signal?.reason ?? this.#failure);
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(this.#file);
    });
  }
}
