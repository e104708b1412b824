// SPDX-License-Identifier: Apache-2.0
// A client of Reel over HTTP, for browsers and Node: JSON, event streams that resume, and files, whole or while they grow.

import { Outgoing, described, sendAhead, sizeOf } from './uploads.js';

export { adapter, condition, extension, promotion, refinement, retake, sound } from './requests.js';

/** An answer that is not OK, or a video that failed. */
export class ReelError extends Error {
  constructor(status, http = 0) {
    super(status.message || `HTTP ${http}`);
    this.name = 'ReelError';
    this.http = http;
    this.code = status.status ?? status.code ?? '';
    this.details = status.details ?? [];
    const of = (type) => this.details.find((detail) => (detail['@type'] ?? '').endsWith(type)) ?? {};
    this.reason = of('google.rpc.ErrorInfo').reason ?? '';
    this.violations = of('google.rpc.BadRequest').fieldViolations ?? [];
    this.retryAfter = Number.parseFloat(of('google.rpc.RetryInfo').retryDelay ?? 'NaN');
  }
}

const sleep = (ms, signal) => new Promise((resolve, reject) => {
  signal?.throwIfAborted();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

// Tries of one call or stream, counted in a row without getting further.
class Tries {
  #failures = 0;
  constructor(most) { this.most = most; }
  progress() { this.#failures = 0; }
  async after(error, signal) {
    signal?.throwIfAborted();
    const again = !(error instanceof ReelError) || error.http === 503;
    if (!again || this.#failures >= this.most) throw error;
    const pause = Math.min(100 * 2 ** this.#failures++, 5000) * (0.8 + 0.4 * Math.random());
    await sleep(Math.max(pause, 1000 * (error.retryAfter || 0)), signal);
  }
}

// Lines of a body, as they come; the last one is given up when it has no end.
async function* linesOf(body) {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop();
      yield* lines;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function* eventsOf(body) {
  let id = '', data = '';
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data) yield { id, event: JSON.parse(data) };
      data = '';
    } else if (line.startsWith('id:')) id = line.slice(3).trim();
    else if (line.startsWith('data:')) data += line.slice(5);
  }
}

const idOf = (name) => encodeURIComponent(name.replace(/^videos\//, ''));
// The error that a reply's text tells.
function refusalOf(text, http) {
  let status = { message: text };
  try { status = JSON.parse(text).error ?? status; } catch { /* a proxy's page */ }
  return new ReelError(status, http);
}

const specOf = (what) => (typeof what === 'string' ? { prompt: what } : what);

export class ReelClient {
  #base; #token; #fetch; #attempts; #resumes;

  constructor(server = 'http://127.0.0.1:8080', { token, fetch = globalThis.fetch, attempts = 4, resumes = 10 } = {}) {
    this.#base = `${server.replace(/\/$/, '')}/reel/v1`;
    this.#token = token;
    this.#fetch = (...call) => fetch(...call);
    this.#attempts = attempts;
    this.#resumes = resumes;
  }

  async #once(path, { method = 'GET', body, headers = {}, signal } = {}) {
    const answer = await this.#fetch(this.#base + path, {
      method, signal, cache: 'no-store',
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(this.#token ? { Authorization: `Bearer ${this.#token}` } : {}),
      },
    });
    if (answer.ok) return answer;
    throw refusalOf(await answer.text(), answer.status);
  }

  async #call(path, options = {}) {
    const tries = new Tries(this.#attempts - 1);
    for (;;) {
      try {
        return await (await this.#once(path, options)).json();
      } catch (error) { await tries.after(error, options.signal); }
    }
  }

  async create(what, { requestId = crypto.randomUUID(), signal, ...more } = {}) {
    const spec = await this.#ahead(what, signal);
    return (await this.#call('/videos', { method: 'POST', body: { spec, requestId, ...more }, signal })).video;
  }

  /** `count` videos of one prompt, whose seeds follow each other: all or none. */
  async createAll(what, count, { requestId = crypto.randomUUID(), signal, ...more } = {}) {
    const spec = await this.#ahead(what, signal);
    return (await this.#call('/videos', { method: 'POST', body: { spec, requestId, count, ...more }, signal })).videos;
  }

  estimate(what, { signal, ...more } = {}) {
    return this.#call('/videos:estimate', { method: 'POST', body: { spec: described(specOf(what)), ...more }, signal });
  }

  #ahead(what, signal) { return sendAhead(specOf(what), (bytes) => this.upload(bytes, { signal })); }

  /** Sends a file ahead of requests, whose conditions name it: `{ file: uploaded.name }`. `onProgress(sent, size)` counts bytes. */
  async upload(file, { onProgress = () => {}, signal } = {}) {
    const size = sizeOf(file), most = Number((await this.info({ signal })).limits?.maxFileBytes ?? 0);
    if (most === 0) throw new ReelError({ status: 'UNIMPLEMENTED', message: 'this server takes no files ahead of requests' }, 404);
    if (size > most) throw new RangeError(`${file.name ?? 'the file'} has ${size} bytes; this server takes files of at most ${most}`);
    const tries = new Tries(this.#attempts - 1), outgoing = new Outgoing(file, onProgress);
    for (;;) {
      try {
        const { status, text } = await outgoing.post(`${this.#base}/files`, { headers: this.#token ? { Authorization: `Bearer ${this.#token}` } : {}, fetch: this.#fetch, signal });
        if (status !== 200) throw refusalOf(text, status);
        return JSON.parse(text).file;
      } catch (error) {
        outgoing.check();
        await tries.after(error, signal);
      }
    }
  }

  async get(name, { signal } = {}) { return (await this.#call(`/videos/${idOf(name)}`, { signal })).video; }

  async cancel(name, { signal } = {}) {
    return (await this.#call(`/videos/${idOf(name)}:cancel`, { method: 'POST', body: {}, signal })).video;
  }

  async delete(name, { signal } = {}) { await this.#call(`/videos/${idOf(name)}`, { method: 'DELETE', signal }); }

  async models({ signal } = {}) { return (await this.#call('/models', { signal })).models; }

  kernels({ signal } = {}) { return this.#call('/kernels', { signal }); }

  info({ signal } = {}) { return this.#call('/server', { signal }); }

  async* list({ states = [], signal } = {}) {
    for (let pageToken = ''; ;) {
      const query = new URLSearchParams([...states.map((state) => ['states', state]), ...(pageToken ? [['pageToken', pageToken]] : [])]);
      const page = await this.#call(`/videos?${query}`, { signal });
      yield* page.videos ?? [];
      pageToken = page.nextPageToken ?? '';
      if (!pageToken) return;
    }
  }

  /** A video's events, each once, up to `finished`; a failed video throws its error. */
  async* events(name, { afterSequence = 0, previews = true, signal } = {}) {
    const tries = new Tries(this.#resumes), path = `/videos/${idOf(name)}/events${previews ? '' : '?previews=0'}`;
    for (let last = afterSequence, accepted = false; ;) {
      const left = new AbortController(), leave = () => left.abort(signal.reason);
      signal?.addEventListener('abort', leave, { once: true });
      try {
        const answer = await this.#once(path, { headers: last ? { 'Last-Event-ID': String(last) } : {}, signal: left.signal });
        if (answer.status === 204) return;
        for await (const { id, event } of eventsOf(answer.body)) {
          const again = event.accepted && accepted; // begins each try
          if (Number(id) > last) { last = Number(id); tries.progress(); }
          if (event.error) throw new ReelError(event.error, answer.status);
          accepted ||= Boolean(event.accepted);
          if (!again) yield event;
          if (event.finished) return;
        }
        throw new TypeError('the stream ended before the video did');
      } catch (error) {
        await tries.after(error, signal);
      } finally {
        signal?.removeEventListener('abort', leave);
        left.abort();
      }
    }
  }

  /** Pieces of a video's file from `offset` on, also while it is still written; goes on where a connection broke. */
  async* media(name, { offset = 0, signal } = {}) {
    const tries = new Tries(this.#resumes);
    for (let attempt = ''; ;) {
      let reader;
      try {
        // RFC 8673: to the end, wherever that will be. Of another attempt nothing belongs to what is there: 412.
        const headers = offset ? { Range: `bytes=${offset}-${Number.MAX_SAFE_INTEGER}` } : {};
        const answer = await this.#once(`/videos/${idOf(name)}/media${attempt && `?attempt=${attempt}`}`, { headers, signal });
        attempt ||= answer.headers.get('ETag')?.match(/\.(\d+)"$/)?.[1] ?? '';
        const size = Number(answer.headers.get('Content-Range')?.split('/')[1] ?? answer.headers.get('Content-Length') ?? NaN);
        reader = answer.body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          offset += value.length;
          tries.progress();
          yield value;
        }
        if (Number.isNaN(size) || offset >= size) return;
        throw new TypeError('the file ended too soon');
      } catch (error) {
        if (error instanceof ReelError && error.http === 416 && (await this.get(name, { signal })).media?.sizeBytes == offset) return;
        await tries.after(error, signal);
      } finally {
        reader?.cancel().catch(() => {});
      }
    }
  }

  /** Renders, tells each event, and returns the finished video. Ending `signal` cancels the job. */
  async generate(what, { onEvent = () => {}, signal, ...more } = {}) {
    const { name } = await this.create(what, { signal, ...more });
    try {
      for await (const event of this.events(name, { signal })) {
        onEvent(event);
        if (event.finished) return event.finished;
      }
      return await this.get(name, { signal });
    } catch (error) {
      if (signal?.aborted) await this.cancel(name).catch(() => {});
      throw error;
    }
  }

  /** The file of a finished video, for `URL.createObjectURL`. Throws if it is not the server's. */
  async blob(name, { signal } = {}) {
    const pieces = [];
    for await (const piece of this.media(name, { signal })) pieces.push(piece);
    const { media } = await this.get(name, { signal }), file = new Blob(pieces, { type: media.contentType });
    if (globalThis.crypto?.subtle) { // browsers have it on https and localhost only
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
      if ([...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('') !== media.sha256) {
        throw new ReelError({ status: 'DATA_LOSS', message: 'the received file has the wrong SHA-256' });
      }
    }
    return file;
  }
}
