// SPDX-License-Identifier: Apache-2.0
// A video's file as it grows, and its events.

// Appends what comes to a <video>; of a browser without MediaSource the whole file is shown at its end.
class Player {
  constructor(video) {
    this.video = video;
    this.reset();
  }
  reset() {
    this.pieces = [];
    this.queue = [];
    this.size = 0;
    this.whole = false;
  }
  begin(type) {
    this.type = type;
    if (this.source || !MediaSourceHere || !MediaSourceHere.isTypeSupported(type)) return;
    this.source = new MediaSourceHere();
    this.video.disableRemotePlayback = true;
    this.video.src = URL.createObjectURL(this.source);
    this.source.addEventListener('sourceopen', () => {
      if (this.buffer) return;
      this.buffer = this.source.addSourceBuffer(type);
      this.buffer.addEventListener('updateend', () => this.pump());
      this.pump();
    });
  }
  // The file begins again.
  restart() {
    this.reset();
    if (!this.buffer) return;
    this.buffer.abort();
    this.buffer.remove(0, Infinity);
  }
  add(bytes) {
    this.pieces.push(bytes);
    this.size += bytes.length;
    this.queue.push(bytes);
    this.pump();
  }
  end() {
    this.whole = true;
    if (!this.source) this.video.src = URL.createObjectURL(this.file());
    this.pump();
  }
  file() { return new Blob(this.pieces, { type: 'video/mp4' }); }
  pump() {
    if (this.source) {
      if (!this.buffer || this.buffer.updating || this.source.readyState !== 'open') return this.play();
      if (this.queue.length) {
        this.buffer.appendBuffer(this.queue.shift());
      } else if (this.whole) {
        this.source.endOfStream();
      }
    }
    this.play();
  }
  play() {
    const ranges = this.video.buffered;
    const ready = this.whole || (ranges.length && ranges.end(ranges.length - 1) >= PLAY_AT);
    if (!ready || this.started) return;
    this.started = true;
    if (this.onstart) this.onstart();
    if (!still) this.video.play().catch(() => {});  // a browser that wants a click first
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const whole = rest.split('\n');
    rest = whole.pop();
    yield* whole;
  }
}

// Every event of a video from its beginning, through broken connections. EventSource cannot send a token.
async function* events(id, signal) {
  let last = '';
  for (;;) {
    try {
      const reply = await ask(`/reel/v1/videos/${id}/events`, { signal, headers: last ? { 'Last-Event-ID': last } : {} });
      if (reply.status === 204) return;
      let name = '';
      for await (const line of lines(reply.body)) {
        if (line.startsWith('event: ')) name = line.slice(7);
        if (line.startsWith('id: ')) last = line.slice(4);
        if (line.startsWith('data: ')) yield { name, data: JSON.parse(line.slice(6)) };
        if (name === 'finished' || name === 'failed') { if (line === '') return; }
      }
    } catch (error) {
      if (signal.aborted || (error.status && error.status < 500)) throw error;
    }
    await pause(RETRY_MS);
  }
}
