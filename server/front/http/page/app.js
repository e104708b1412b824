// SPDX-License-Identifier: Apache-2.0
// The page: asks for videos and plays them while they are made. Whatever comes from outside is put in as text.
'use strict';

const byId = (id) => document.getElementById(id);
const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
const MediaSourceHere = window.MediaSource || window.ManagedMediaSource;
const FOLLOW = 9007199254740991;  // a last byte that means: for as long as the file grows (RFC 8673)
const PLAY_AT = 0.5;              // seconds; the first fragment is one frame, which would stall at once
const RETRY_MS = 2000;
const STAGES = {
  STAGE_QUEUE: 'waiting', STAGE_TEXT_ENCODE: 'reading the prompt', STAGE_CONDITION_ENCODE: 'reading pictures',
  STAGE_DENOISE: 'denoising', STAGE_SOUND: 'making the sound', STAGE_DECODE: 'decoding', STAGE_ENCODE: 'finishing the file',
};
let models = [];
let token = '';  // never stored

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
const seconds = (duration) => parseFloat(duration || '0');  // "1.5s"
const shown = (value) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const idOf = (video) => video.name.replace(/^videos\//, '');
const promotionOf = (name) => ({ source: { video: name, promote: {} } });

// A reply, or an error with the server's own message and violations.
async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (options.json) headers['Content-Type'] = 'application/json';
  const reply = await fetch(path, {
    ...options, headers, body: options.json ? JSON.stringify(options.json) : undefined, cache: 'no-store',
  });
  if (reply.ok) return reply;
  const error = new Error(`The server answered ${reply.status}`);
  error.status = reply.status;
  try {
    takeError(error, (await reply.json()).error);
  } catch (none) { /* not of ours: a proxy's */ }
  if (reply.status === 401) byId('token-row').hidden = false;
  throw error;
}
const askJson = async (path, options) => (await ask(path, options)).json();

function takeError(error, status) {
  error.message = status.message || error.message;
  error.violations = (status.details || []).flatMap((detail) => detail.fieldViolations || []);
}

// ---- the form

const FIELDS = ['prompt', 'preset', 'width', 'height', 'frames', 'steps', 'seed', 'count', 'negative', 'guidance', 'kernels', 'crf', 'draft'];
const count = () => Number(byId('count').value);
const model = () => models.find((one) => one.name === byId('model').value) || models[0];

function spec() {
  const value = (id) => byId(id).value.trim();
  const made = { ...origin, prompt: value('prompt') };
  const put = (name, id, read = Number) => {
    if (value(id) !== '') made[name] = read(value(id));
    else delete made[name];
  };
  put('model', 'model', String);
  put('preset', 'preset', String);
  put('width', 'width');
  put('height', 'height');
  put('numFrames', 'frames');
  put('numInferenceSteps', 'steps');
  put('seed', 'seed', String);
  put('negativePrompt', 'negative', String);
  if (byId('no-negative').checked && !byId('no-negative-row').hidden) made.negativePrompt = '';
  put('guidanceScale', 'guidance');
  if (made.numInferenceSteps) delete made.timesteps;
  put('kernels', 'kernels', (profile) => origin?.kernels?.profile === profile ? origin.kernels : { profile });
  put('encoding', 'crf', (crf) => ({ ...origin?.encoding, crf: Number(crf) }));
  if (byId('draft').checked && !byId('draft-row').hidden) made.stopAfterPass = origin?.stopAfterPass || 1;
  else delete made.stopAfterPass;
  made.preview = { everySteps: 2 };
  return made;
}

// ---- a file that says how it was made

const HEAD_BYTES = 262144;
const ORIGIN_BYTES = 65536;
const ORIGIN_DEPTH = 8;
const ORIGIN_UUID = '1e8cf22df5c54eba97d18938595855cd';
let origin = null;  // the spec of a file that was dropped, of which the form shows a part

// The text in an MP4's head; none: null.
async function originText(file) {
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const view = new DataView(bytes.buffer);
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (size < 8 || type === 'moof' || type === 'mdat') return null;
    const uuid = Array.from(bytes.subarray(at + 8, at + 24), (one) => one.toString(16).padStart(2, '0')).join('');
    if (type === 'uuid' && uuid === ORIGIN_UUID) {
      return size - 24 > ORIGIN_BYTES ? null : new TextDecoder().decode(bytes.subarray(at + 24, at + size));
    }
    at += size;
  }
  return null;
}

// Names as this page has them; those in `variants` are operators'.
function camelCased(value, depth = 0) {
  if (depth > ORIGIN_DEPTH) throw new Error('it is nested too deep');
  if (Array.isArray(value)) return value.map((one) => camelCased(one, depth + 1));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => name === 'variants' ? [name, one]
    : [name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase()), camelCased(one, depth + 1)]));
}

// Fills the form with the request of a file. What the form does not show stays as it is there.
async function takeFile(file) {
  clearErrors();
  try {
    const text = await originText(file);
    if (text === null) throw new Error('it does not say how it was made (reel generate --origin spec)');
    // A seed is larger than a number of JavaScript may be; in a text of JSON these quotes have backslashes.
    const found = JSON.parse(text.replace(/([{,])"seed":(\d+)/, '$1"seed":"$2"'));
    if (!found || found.format !== 'reel.origin.1' || !found.spec || typeof found.spec !== 'object') throw new Error('it is of another version');
    if (found.spec.conditions) throw new Error('it was made with pictures, which are not in it; use reel again');
    showOrigin(camelCased(found.spec), file.name);
  } catch (error) {
    byId('refusal').textContent = `${file.name}: ${error.message}`;
  }
}

function showOrigin(spec, name) {
  origin = spec;
  const put = (id, value) => { byId(id).value = value === undefined ? '' : value; };
  put('model', spec.model);
  byId('no-negative').checked = spec.negativePrompt === '';
  showModel();
  put('prompt', spec.prompt);
  put('preset', spec.preset);
  put('width', spec.width);
  put('height', spec.height);
  put('frames', spec.numFrames);
  put('steps', spec.numInferenceSteps);
  put('seed', spec.seed);
  put('negative', spec.negativePrompt);
  put('guidance', spec.guidanceScale);
  put('kernels', spec.kernels && spec.kernels.profile);
  put('crf', spec.encoding && spec.encoding.crf);
  byId('draft').checked = Boolean(spec.stopAfterPass);
  byId('origin-name').textContent = `As in ${name}.`;
  byId('origin').hidden = false;
  estimateSoon();
}

function forgetOrigin() {
  origin = null;
  byId('origin').hidden = true;
  byId('origin-file').value = '';
  estimateSoon();
}

// Keeps what was chosen where it is still there.
function fillSelect(id, names, first) {
  const select = byId(id);
  const chosen = select.value;
  select.replaceChildren();
  if (first !== undefined) select.append(new Option(first, ''));
  for (const name of names) select.append(new Option(name, name));
  if (names.includes(chosen)) select.value = chosen;
}

function insertWord(word) {
  const field = byId('prompt');
  const before = field.value.slice(0, field.selectionStart);
  const after = field.value.slice(field.selectionEnd);
  const text = (before && !/\s$/.test(before) ? ' ' : '') + word + (after && !/^\s/.test(after) ? ' ' : '');
  field.value = before + text + after;
  field.selectionStart = field.selectionEnd = before.length + text.length;
  field.focus();
  estimateSoon();
}

function showModel() {
  const chosen = model();
  if (!chosen) return;
  const defaults = chosen.defaults || {};
  byId('width').placeholder = defaults.width || '';
  byId('height').placeholder = defaults.height || '';
  byId('frames').placeholder = defaults.numFrames || '';
  byId('steps').placeholder = defaults.numInferenceSteps || '';
  byId('guidance').placeholder = defaults.guidanceScale || '';
  byId('negative').placeholder = defaults.negativePrompt || '';
  byId('no-negative-row').hidden = !defaults.negativePrompt;
  byId('negative').disabled = byId('no-negative').checked && Boolean(defaults.negativePrompt);
  byId('width').step = byId('height').step = chosen.spatialMultiple;
  byId('frames').step = chosen.temporalMultiple;
  byId('frames').min = 1;
  fillSelect('preset', chosen.presets || [], 'usual');
  byId('preset-row').hidden = byId('draft-row').hidden = !(chosen.presets || []).length;
  byId('words').replaceChildren();
  for (const group of chosen.promptWords || []) {
    const row = element('div');
    row.append(element('span', group.name));
    for (const word of group.words) {
      const chip = element('button', word);
      chip.type = 'button';
      chip.addEventListener('click', () => insertWord(word));
      row.append(chip);
    }
    byId('words').append(row);
  }
}

function fieldOf(path) {
  const bare = path.replace(/^spec\./, '');
  return FIELDS.map(byId).find((field) => bare === field.dataset.path || bare.startsWith(`${field.dataset.path}.`));
}

function clearErrors() {
  byId('refusal').textContent = '';
  for (const id of FIELDS) {
    byId(id).removeAttribute('aria-invalid');
    const place = byId(`${id}-error`);
    if (place) place.textContent = '';
  }
}

function showError(error, focus) {
  const placed = [];
  for (const violation of error.violations || []) {
    const field = fieldOf(violation.field);
    if (!field) continue;
    placed.push(field);
    field.setAttribute('aria-invalid', 'true');
    byId(`${field.id}-error`).textContent =
      `${field.id === 'prompt' ? '' : `${field.dataset.path}: `}${violation.description}`;
  }
  if (!placed.length || placed.length < (error.violations || []).length) byId('refusal').textContent = error.message;
  if (focus && placed.length) {
    const hidden = placed[0].closest('details');
    if (hidden) hidden.open = true;
    placed[0].focus();
  }
}

let estimateTimer = 0;
let estimates = 0;
function estimateSoon() {
  clearTimeout(estimateTimer);
  estimateTimer = setTimeout(estimate, 300);
}
async function estimate() {
  const own = ++estimates;
  if (!byId('prompt').value.trim()) {
    byId('estimate').textContent = '';
    return clearErrors();
  }
  let text = '';
  let wrong;
  try {
    const cost = await askJson('/reel/v1/videos:estimate', { method: 'POST', json: { spec: spec(), count: count() } });
    text = `Estimate: ${shown(seconds(cost.runP50))} s${count() > 1 ? ' each' : ''}`;
    text += cost.queuePosition ? `, ${cost.queuePosition} ahead (${shown(seconds(cost.queue))} s)` : ', no queue';
    const bytes = Number(cost.peakMemoryBytes || 0);
    if (bytes) text += `, ${(bytes / 1048576).toFixed(0)} MB`;
    if (!cost.admissible && cost.refusal) wrong = takenError(cost.refusal);
  } catch (error) {
    wrong = error;
  }
  if (own !== estimates) return;
  clearErrors();
  byId('estimate').textContent = text;
  if (wrong) showError(wrong, false);
}
function takenError(status) {
  const error = new Error(status.message);
  takeError(error, status);
  return error;
}

// ---- a video as it is made

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

// Takes the others along: videos beside each other play in step.
function takeAlong(leader, kind) {
  if (leader.asked.delete(kind) || !leader.node.isConnected) return;
  const { paused, currentTime } = leader.video;
  for (const stage of stages) {
    const { video } = stage;
    if (stage === leader || video.hidden) continue;
    if (Math.abs(video.currentTime - currentTime) > 0.05) {
      stage.asked.add('seeked');
      video.currentTime = currentTime;
    }
    if (video.paused === paused) continue;
    stage.asked.add(paused ? 'pause' : 'play');
    if (paused) video.pause(); else video.play().catch(() => stage.asked.delete('play'));
  }
}

class Stage {
  // `place(node)` puts it on the page.
  constructor(title, heading = title, place = (node) => byId('stages').prepend(node)) {
    this.node = byId('stage').content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.node.querySelector(selector);
    this.title = title;
    this.asked = new Set();  // events that others have caused, by takeAlong
    this.find('h2').textContent = heading;
    this.video = this.find('video');
    this.player = new Player(this.video);
    this.player.onstart = () => this.showVideo();
    this.life = new AbortController();
    this.media = null;
    this.find('.speaker').addEventListener('click', () => this.hear(this.video.muted));
    this.video.addEventListener('volumechange', () => this.showSpeaker());
    this.find('.cancel').addEventListener('click', () => this.cancel());
    this.find('.download').addEventListener('click', () => this.download());
    this.find('.promote').addEventListener('click', () => this.goOn(promotionOf(this.result.name)));
    this.find('.delete').addEventListener('click', () => this.remove());
    for (const kind of ['play', 'pause', 'seeked']) this.video.addEventListener(kind, () => takeAlong(this, kind));
    this.find('.again').addEventListener('click', () => this.again());
    this.find('.curl').addEventListener('click', (event) => copy(event.target, asCurl(this.sent)));
    this.find('.reel').addEventListener('click', (event) => copy(event.target, asReel(this.sent)));
    place(this.node);
  }
  close() {
    this.life.abort();
    this.node.remove();
  }
  showVideo() {
    this.video.hidden = false;
    this.find('img').hidden = true;
    this.find('.wait').hidden = true;
  }
  // Renders it and plays it meanwhile; gives the finished video.
  async run(request) {
    this.sent = request;
    return this.follow((await order({ spec: request }, this.life.signal)).video);
  }
  async follow(video) {
    this.id = idOf(video);
    // A promotion is asked for by its draft alone.
    const { source } = video.spec;
    this.sent = this.sent || (source ? promotionOf(source.video) : video.spec);
    const { width, height } = video.spec;
    if (width && height) this.find('.screen').style.aspectRatio = `${width} / ${height}`;
    let finished;
    for await (const { name, data } of events(this.id, this.life.signal)) {
      if (name === 'accepted' && !source) this.sent = { ...this.sent, seed: data.accepted.spec.seed };
      if (name === 'progress') this.progress(data.progress);
      if (name === 'preview') this.preview(data.preview);
      if (name === 'media') this.take(data.media);
      if (name === 'restarted') this.restart();
      if (name === 'failed') throw this.fail(data.error);
      if (name === 'finished') finished = data.finished;
    }
    if (this.loading) await this.loading;
    if (finished) this.finish(finished);
    return finished;
  }
  progress(now) {
    const percent = Math.floor(100 * (now.fraction || 0));
    const bar = this.find('progress');
    bar.value = percent;
    bar.textContent = `${percent} %`;
    let text = STAGES[now.stage] || '';
    if (now.queuePosition) text += `, ${now.queuePosition} ahead`;
    if (this.find('.now').textContent !== text) this.find('.now').textContent = text;
    const steps = now.stage === 'STAGE_DENOISE' ? `step ${now.step || 0} of ${now.numSteps}, ` : '';
    const left = seconds(now.remaining);
    this.find('.left').textContent = `${steps}${percent} %${left > 0 ? `, ${shown(left)} s left` : ''}`;
  }
  preview(picture) {
    const image = this.find('img');
    image.src = `data:image/jpeg;base64,${picture.image}`;
    image.alt = `Preview after step ${picture.step}`;
    if (!this.video.hidden) return;
    image.hidden = false;
    this.find('.wait').hidden = true;
  }
  // Browsers play by themselves only what is muted, so that sound waits for a click.
  hear(on) {
    if (on) stages.filter((stage) => stage !== this).forEach((stage) => { stage.video.muted = true; });
    this.video.muted = !on;
    this.showSpeaker();
  }
  showSpeaker() {
    const speaker = this.find('.speaker');
    speaker.textContent = this.video.muted ? 'Sound on' : 'Sound off';
    speaker.setAttribute('aria-pressed', String(!this.video.muted));
  }
  take(media) {
    if (this.loading) return;
    this.find('.speaker').hidden = !media.contentType.includes('mp4a');
    this.player.begin(media.contentType);
    this.loading = this.load();
  }
  restart() {
    if (this.media) this.media.abort();
    this.loading = null;
    this.player.restart();
  }
  // The growing file, to its end. A connection that breaks is followed on; what ends the job is told by its events.
  async load() {
    const media = this.media = new AbortController();
    this.life.signal.addEventListener('abort', () => media.abort());
    while (!media.signal.aborted) {
      try {
        const from = this.player.size;
        const reply = await ask(`/reel/v1/videos/${this.id}/media`, {
          signal: media.signal, headers: from ? { Range: `bytes=${from}-${FOLLOW}` } : {},
        });
        const reader = reply.body.getReader();
        for (;;) {
          const { value, done } = await reader.read();
          if (media.signal.aborted) return;
          if (done) return this.player.end();
          this.player.add(value);
        }
      } catch (error) {
        if (media.signal.aborted || (this.player.size === 0 && error.status)) return;
        if (error.status === 416) return this.player.end();
        if (error.status) return;
        await pause(RETRY_MS);
      }
    }
  }
  finish(video) {
    this.find('progress').value = 100;
    this.find('.now').textContent = 'done';
    this.result = video;
    const stats = video.stats || {};
    const parts = [['text', stats.textEncode], ['denoise', stats.denoise],
      ...stats.soundDecode ? [['sound', stats.soundDecode]] : [], ['decode', stats.decode]]
      .map(([name, time]) => `${name} ${shown(seconds(time))}`).join(', ');
    const seed = video.spec.seed;
    const text = [`${shown(seconds(stats.total))} s (${parts})`, `seed ${seed}`];
    if (stats.sound?.loudnessLufs !== undefined) {
      text.push(`${stats.sound.loudnessLufs.toFixed(1)} LUFS, peak ${stats.sound.truePeakDbtp.toFixed(1)} dBTP`);
    }
    for (const notice of video.notices || []) text.push(notice.message);
    this.find('.left').textContent = text.join(' · ');
    this.find('.cancel').hidden = true;
    for (const name of ['download', 'again', 'delete', 'curl', 'reel']) this.find(`.${name}`).hidden = false;
    this.find('.promote').hidden = !video.spec.stopAfterPass || !(new Date(video.stateExpireTime || 0) > Date.now());
    this.bill(stats);
    loadRecent();
  }
  fail(status) {
    const error = takenError(status);
    this.broken(error);
    return error;
  }
  broken(error) {
    this.find('.now').textContent = 'ended';
    this.find('.left').textContent = '';
    this.find('.error').textContent = error.message;
    this.find('.cancel').hidden = true;
    this.find('.again').hidden = !this.sent;
    this.find('.delete').hidden = !this.id;
  }
  bill(stats) {
    const parts = (stats.parts || []).filter((part) => seconds(part.time) > 0);
    if (!parts.length) return;
    const most = Math.max(...parts.map((part) => seconds(part.time)));
    const rows = parts.map((part) => {
      const bar = element('span');
      bar.style.width = `${100 * seconds(part.time) / most}%`;
      return [part.part.replace('RUN_PART_', '').toLowerCase(), number(shown(seconds(part.time))), bar];
    });
    const place = this.find('.bill div');
    place.replaceChildren(table(['part', 's', 'share'], rows));
    const operators = (stats.operators || []).map((one) => ({ ...one, time: seconds(one.estimate) }))
      .sort((a, b) => b.time - a.time).slice(0, 12);
    if (operators.length) {
      place.append(table(['operator', 'variant', 'part', 's'], operators.map((one) => [
        one.op, one.variant || '', one.part.replace('RUN_PART_', '').toLowerCase(), number(shown(one.time))])));
    }
    const facts = [`${shown(stats.deviceSeconds || 0)} device seconds`];
    if (stats.energyJoules !== undefined) facts.push(`${shown(stats.energyJoules)} J`);
    place.append(element('p', facts.join(', ')));
    this.find('.bill').hidden = false;
  }
  async cancel() {
    if (!this.id) return this.close();
    this.find('.cancel').disabled = true;
    try {
      await ask(`/reel/v1/videos/${this.id}:cancel`, { method: 'POST' });
    } catch (error) {
      this.find('.error').textContent = error.message;
    }
  }
  download() {
    const link = element('a');
    link.href = URL.createObjectURL(this.player.file());
    link.download = `reel-${this.id}.mp4`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  async remove() {
    if (!confirm('Delete this video and its file?')) return;
    try {
      await ask(`/reel/v1/videos/${this.id}`, { method: 'DELETE' });
    } catch (error) {
      this.find('.error').textContent = error.message;
      return;
    }
    this.close();
    stages = stages.filter((stage) => stage !== this);
    if (!stages.length) clearStages();
    loadRecent();
  }
  again() {
    const { seed, ...rest } = this.sent;
    this.goOn(rest);
  }
  // In a row the next one takes this one's place, and the others stay.
  goOn(request) {
    make(request, this.title, stages.length > 1 ? this : undefined);
  }
}

// Asked again with the same key, it makes nothing new.
function order(wanted, signal) {
  const key = crypto.randomUUID ? crypto.randomUUID() : `page-${Math.random()}`;
  return askJson('/reel/v1/videos', { method: 'POST', json: wanted, signal, headers: { 'Idempotency-Key': key } });
}

const number = (text) => ({ number: text });
function table(heads, rows) {
  const made = element('table');
  const head = element('tr');
  for (const text of heads) head.append(element('th', text));
  made.append(head);
  for (const row of rows) {
    const line = element('tr');
    for (const cell of row) {
      const place = element('td', cell.number !== undefined ? cell.number : cell instanceof Node ? undefined : cell,
        cell.number !== undefined ? 'number' : cell instanceof Node ? 'bar' : '');
      if (cell instanceof Node) place.append(cell);
      line.append(place);
    }
    made.append(line);
  }
  const box = element('div', undefined, 'table');
  box.append(made);
  return box;
}

const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;
const asCurl = (sent) => `curl -s ${quoted(`${location.origin}/reel/v1/videos`)} -H 'Content-Type: application/json'` +
  `${token ? " -H \"Authorization: Bearer $TOKEN\"" : ''} -d ${quoted(JSON.stringify({ spec: { ...sent, preview: undefined } }))}`;
function asReel(sent) {
  if (sent.source) return `reel promote ${quoted(sent.source.video)} -o video.mp4`;
  const words = ['reel generate', quoted(sent.prompt), '-o video.mp4'];
  const put = (flag, value) => { if (value !== undefined && value !== '') words.push(`--${flag} ${quoted(String(value))}`); };
  put('model', sent.model);
  put('preset', sent.preset);
  put('width', sent.width);
  put('height', sent.height);
  put('frames', sent.numFrames);
  put('steps', sent.numInferenceSteps);
  put('seed', sent.seed);
  if (sent.negativePrompt === '') words.push("--negative-prompt ''");
  put('negative-prompt', sent.negativePrompt);
  put('guidance', sent.guidanceScale);
  put('kernels', sent.kernels && sent.kernels.profile);
  put('crf', sent.encoding && sent.encoding.crf);
  if (sent.sound === false) words.push('--no-sound');
  if (sent.stopAfterPass) words.push('--draft');
  return words.join(' ');
}
async function copy(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch (refused) {
    prompt('Copy this', text);
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

// ---- what the buttons do

let stages = [];
function clearStages() {
  for (const stage of stages) stage.close();
  stages = [];
  byId('stages').classList.remove('row');
  byId('row-title').hidden = true;
  byId('pair-table').replaceChildren();
}

// One call for several: a row of videos that play in step.
async function makeRow(request, videos) {
  clearStages();
  clearErrors();
  byId('make').disabled = true;
  try {
    const made = (await order({ spec: request, count: videos })).videos;
    byId('stages').classList.add('row');
    byId('row-title').textContent = request.prompt;
    byId('row-title').hidden = false;
    await Promise.all(made.map(async (video) => {
      const stage = new Stage(request.prompt, `Seed ${video.spec.seed}`, (node) => byId('stages').append(node));
      stages.push(stage);
      stage.sent = request;
      try {
        await stage.follow(video);
      } catch (error) {
        if (!stage.life.signal.aborted) stage.broken(error);
      }
    }));
  } catch (error) {
    showError(error, true);
  } finally {
    byId('make').disabled = false;
    loadRecent();
  }
}

// `instead`: the stage whose place it takes, beside others that stay.
async function make(request, title = request.prompt, instead = undefined) {
  if (!instead) clearStages();
  clearErrors();
  const stage = instead ? new Stage(title, instead.find('h2').textContent, (node) => instead.node.replaceWith(node)) : new Stage(title);
  if (instead) {
    instead.close();
    stages = stages.map((one) => one === instead ? stage : one);
  } else {
    stages.push(stage);
  }
  byId('make').disabled = true;
  try {
    await stage.run(request);
  } catch (error) {
    if (stage.life.signal.aborted) return;
    if (stage.id) {
      stage.broken(error);
      loadRecent();
    } else {
      stage.close();
      showError(error, true);
    }
  } finally {
    byId('make').disabled = false;
  }
}

function pairTable(results) {
  const ops = new Map();
  results.forEach((video, side) => {
    for (const stat of (video.stats || {}).kernelStats || []) {
      const row = ops.get(stat.op) || [[], []];
      row[side].push(stat);
      ops.set(stat.op, row);
    }
  });
  const each = (stats) => {
    const calls = stats.reduce((sum, one) => sum + Number(one.calls), 0);
    return calls ? 1e6 * stats.reduce((sum, one) => sum + seconds(one.total), 0) / calls : 0;
  };
  const rows = [...ops].map(([op, [a, b]]) => [
    op, a.map((one) => one.variant).join(', '), number(shown(each(a))), b.map((one) => one.variant).join(', '),
    number(shown(each(b))), number(each(b) ? (each(a) / each(b)).toFixed(2) : '')]);
  byId('pair-table').replaceChildren(rows.length
    ? table(['operator', 'A', 'us a call', 'B', 'us a call', 'A / B'], rows)
    : element('p', 'No step of these was timed: the server times every few steps only.'));
}

async function comparePair() {
  clearStages();
  clearErrors();
  const request = spec();
  request.seed = request.seed || String(Math.floor(Math.random() * 2 ** 32));
  const results = [];
  byId('pair').disabled = true;
  try {
    for (const side of ['b', 'a']) {
      const profile = byId(`kernels-${side}`).value;
      const stage = new Stage(`${side.toUpperCase()}: ${profile}`);
      stages.push(stage);
      results.unshift(await stage.run({ ...request, kernels: { profile } }));
    }
    pairTable(results);
  } catch (error) {
    const last = stages[stages.length - 1];
    if (last && !last.life.signal.aborted && last.id) last.broken(error);
    else if (last && !last.life.signal.aborted) { last.close(); showError(error, true); }
  } finally {
    byId('pair').disabled = false;
  }
}

// ---- recent videos

// The first frames of a video as its poster, when it is scrolled to; one after the other.
let posters = Promise.resolve();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    const place = entry.target;
    posters = posters.then(async () => {
      const reply = await ask(`/reel/v1/videos/${place.dataset.id}/media`, { headers: { Range: 'bytes=0-262143' } });
      place.src = URL.createObjectURL(new Blob([await reply.arrayBuffer()], { type: 'video/mp4' }));
    }).catch(() => {});
  }
});

async function open(video) {
  clearStages();
  const stage = new Stage(video.spec.prompt || '');
  stages.push(stage);
  stage.node.scrollIntoView({ block: 'nearest' });
  try {
    await stage.follow((await askJson(`/reel/v1/videos/${idOf(video)}`)).video);
  } catch (error) {
    if (!stage.life.signal.aborted) stage.broken(error);
  }
}

async function loadRecent() {
  let page;
  try {
    page = await askJson('/reel/v1/videos?pageSize=24');
  } catch (error) {
    return;
  }
  const known = new Map([...byId('recent').children].map((item) => [item.dataset.key, item]));
  byId('recent').replaceChildren(...(page.videos || []).map((video) => {
    const key = `${video.name} ${video.state}`;
    if (known.has(key)) return known.get(key);
    const item = element('li');
    item.dataset.key = key;
    const button = element('button');
    button.type = 'button';
    const state = video.state.replace('VIDEO_STATE_', '').toLowerCase();
    if (video.state === 'VIDEO_STATE_SUCCEEDED') {
      const poster = element('video');
      poster.muted = true;
      poster.tabIndex = -1;
      poster.dataset.id = idOf(video);
      poster.setAttribute('aria-hidden', 'true');
      watcher.observe(poster);
      button.append(poster);
    } else {
      button.append(element('span', state, 'none'));
    }
    button.append(element('span', video.spec.prompt || '', 'text'), element('span', state, 'state'));
    button.addEventListener('click', () => open(video));
    item.append(button);
    return item;
  }));
}

// Of a model that no worker has loaded yet, a server that has just begun knows the name alone.
const LOADING = 'The server is loading its model.';
const isComing = (one) => one.state === 'MODEL_STATE_LOADING' && !one.family;
let told = '';  // by which what is shown was filled: a reader's focus is lost by filling it again

function showServer(listed, server) {
  const now = JSON.stringify([listed, server.kernelProfiles, server.version, server.workers?.map((one) => one.device)]);
  if (now === told) return;
  told = now;
  models = listed.models || [];
  const profiles = server.kernelProfiles || [];
  fillSelect('model', models.map((one) => one.name));
  fillSelect('kernels', profiles, 'usual');
  const other = byId('kernels-b').value || 'reference';
  fillSelect('kernels-a', profiles);
  fillSelect('kernels-b', profiles);
  byId('kernels-b').value = profiles.includes(other) ? other : profiles[0] || '';
  byId('served').textContent = `reeld ${server.version}, ${(server.workers || []).map((one) => one.device).join(', ')}`;
  showModel();
  loadRecent();
}

async function start() {
  try {
    showServer(...await Promise.all([askJson('/reel/v1/models'), askJson('/reel/v1/server')]));
  } catch (error) {
    byId('refusal').textContent = error.message;
    return;
  }
  const waits = !models.length || models.some(isComing);
  if (waits || byId('estimate').textContent === LOADING) byId('estimate').textContent = waits ? LOADING : '';
  if (waits) setTimeout(start, RETRY_MS);
  else if (byId('prompt').value) estimateSoon();
}

for (const id of FIELDS) {
  if (byId(`${id}-error`)) continue;
  const place = element('p', '', 'error');
  place.id = `${id}-error`;
  byId('field-errors').append(place);
}
byId('ask').addEventListener('input', estimateSoon);
byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  if (count() > 1) makeRow(spec(), count()); else make(spec());
});
byId('prompt').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey) {
    event.preventDefault();
    byId('ask').requestSubmit();
  }
});
byId('model').addEventListener('change', showModel);
byId('no-negative').addEventListener('change', showModel);
byId('dice').addEventListener('click', () => {
  byId('seed').value = Math.floor(Math.random() * 2 ** 32);
  estimateSoon();
});
byId('origin-file').addEventListener('change', (event) => { if (event.target.files[0]) takeFile(event.target.files[0]); });
byId('origin-forget').addEventListener('click', forgetOrigin);
const isClip = (one) => one.kind === 'file' && one.type === 'video/mp4';
document.addEventListener('dragover', (event) => { if ([...event.dataTransfer.items].some(isClip)) event.preventDefault(); });
document.addEventListener('drop', (event) => {
  const clip = [...event.dataTransfer.items].find(isClip);
  if (!clip) return;
  event.preventDefault();
  takeFile(clip.getAsFile());
});
byId('pair').addEventListener('click', comparePair);
byId('token').addEventListener('change', () => {
  token = byId('token').value.trim();
  start();
});
start();
