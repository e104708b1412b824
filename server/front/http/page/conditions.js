// SPDX-License-Identifier: Apache-2.0
// Pictures and clips that the video must contain, on a line of its time: the first, the last, and those between; and the sound that it has.

const IMAGES = [/^\x89PNG/, /^\xff\xd8\xff/, /^RIFF.{4}WEBP/s];
const SOUNDS = [/^RIFF.{4}WAVE/s, /^fLaC/, /^ID3/, /^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/, /^.{4}ftypM4[AB]/s];
const CLIP = /^.{4}ftyp/s;
// { file, name, size, kind: 'image', 'video' or 'audio', data: base64, url, at }, and of some { seconds, width, height }.
// `at`: 0 to 1 of the time, 'all' or 'reference'.
// `ahead` and what goes with it: uploads.js. `refine`, `rate`, `strength`: refinement.js.
let pins = [];
let clip = { frames: 0, rate: 0 };   // of the video that is asked for
const lengths = new Map();          // by model and preset, of requests that do not say
const pinsSent = new WeakMap();     // by the condition that was made of it

const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MB`;
const takesPictures = () => Boolean(model()?.supportsConditions);
const takesSounds = () => Boolean(model()?.ownSound);
const isReference = (one) => one.at === 'reference';
const isTaken = (one) => isReference(one) ? wantsReference() : one.kind === 'audio' ? takesSounds() : takesPictures();
const numberOf = (one) => pins.filter(isTaken).indexOf(one);  // in a request

// What a file is, by its first bytes; nothing that is taken: empty.
async function kindOf(file, place) {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  const is = (one) => one.test(head);
  if (SOUNDS.some(is) || place === 'sound' && is(CLIP)) return 'audio';
  return is(CLIP) ? 'video' : IMAGES.some(is) ? 'image' : '';
}

async function checkPicture(file) {
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) throw new Error('is damaged: it cannot be read as a picture');
  const { width, height } = picture;
  picture.close();
  const most = limits.maxConditionPixels;
  if (width * height > most) throw new Error(`has ${width}x${height} pixels; at most ${most / 1e6} million are taken`);
}

function checkClip(url) {
  return new Promise((done, refuse) => {
    const video = element('video');
    video.preload = 'metadata';
    video.onloadedmetadata = () => video.videoWidth ? done({ seconds: video.duration, width: video.videoWidth, height: video.videoHeight }) : refuse(new Error('has no pictures'));
    video.onerror = () => refuse(new Error('cannot be read as a clip; an MP4 with H.264 can'));
    video.src = url;
  });
}

function checkSound(url) {
  return new Promise((done, refuse) => {
    const sound = element('audio');
    sound.preload = 'metadata';
    sound.onloadedmetadata = () => done({ seconds: sound.duration });
    sound.onerror = () => refuse(new Error('cannot be read as a sound; WAV, FLAC, MP3, and AAC in MP4 can'));
    sound.src = url;
  });
}

const base64Of = (file) => new Promise((done, refuse) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(',') + 1));
  reader.onerror = () => refuse(new Error('cannot be read'));
  reader.readAsDataURL(file);
});

// A picture, clip or sound from a file. What could not be used is refused before anything is sent.
async function pinOf(file, others, kind) {
  const { ahead, most, size } = roomFor(file, others);
  if (size > most) {
    throw new Error(`has ${megabytes(file.size)}; all files together have at most ${megabytes(most)}, and ${
      kind === 'audio' ? 'FLAC, MP3 or AAC of the video\'s length' : 'a JPEG of the video\'s size'} is enough`);
  }
  const url = URL.createObjectURL(file);
  try {
    const shape = await ({ image: checkPicture, video: checkClip, audio: checkSound })[kind](kind === 'image' ? file : url);
    return { file, name: file.name, kind, size: file.size, url, ...shape, ahead, data: ahead ? '' : await base64Of(file) };
  } catch (error) {
    URL.revokeObjectURL(url);
    throw error;
  }
}

// `place`: 'first', 'middle', 'last', 'sound' or 'reference'; without one the first that is free. One after the other, since each looks for what is free.
const rankOf = (one) => isReference(one) ? 1 : one.kind === 'audio' ? 2 : 0;
let pinning = Promise.resolve();
function pin(file, place) {
  pinning = pinning.then(() => pinNow(file, place));
  return pinning;
}
async function pinNow(file, place) {
  try {
    if (file.size === 0) throw new Error('is empty');
    const kind = await kindOf(file, place);
    if (place === 'sound' && kind !== 'audio') throw new Error('is no sound (WAV, FLAC, MP3, AAC in MP4)');
    if (place === 'reference' && kind !== 'video') throw new Error('is no clip (MP4)');
    if (!kind) throw new Error('is no picture (PNG, JPEG, WebP), no clip (MP4) and no sound (WAV, FLAC, MP3, MP4)');
    if (!isTaken({ kind, at: place })) throw new Error(`this model takes no ${kind === 'audio' ? 'sounds' : 'pictures and clips'}`);
    const taken = (at) => pins.find((one) => one.at === at);
    const free = taken(0) ? taken(1) ? 'middle' : 'last' : 'first';
    const at = place === 'reference' ? place : kind === 'audio' ? 'all' : { middle: 0.5, last: 1 }[place || free] || 0;
    const others = pins.filter((one) => at === 0.5 || one.at !== at);
    if (others.length >= limits.maxConditions) throw new Error(`would be one more than ${limits.maxConditions}; remove one`);
    const made = { ...await pinOf(file, others, kind), at };
    for (const one of pins) if (!others.includes(one)) letGo(one);
    pins = [...others, made].sort((a, b) => rankOf(a) - rankOf(b));
    showPins();
    if (made.ahead) sendAhead(made);
    if (!byId('prompt').value) byId('prompt').focus();
    estimateSoon();
  } catch (error) {
    byId(place === 'reference' ? 'reference-file-error' : byId('line-row').hidden ? 'file-error' : 'line-error').textContent = `${file.name}: ${error.message}`;
  }
}

function letGo(one) {
  URL.revokeObjectURL(one.url);
  one.upload?.abort();
}

function unpin(gone) {
  letGo(gone);
  const next = pins[pins.indexOf(gone) + 1];
  pins = pins.filter((one) => one !== gone);
  showPins();
  const beside = next && !isReference(gone) && [...next.node.querySelectorAll('input, select, button')].find((field) => field.offsetParent);
  (beside || byId(isReference(gone) ? 'reference' : takesPictures() ? 'first-picture' : 'own-sound')).focus();
  estimateSoon();
}

// Models with sound begin a condition where a latent does, at 0 or 8k + 1; others a picture anywhere, and a clip at 8k.
const multiple = () => model()?.temporalMultiple || 8;
const latents = () => Math.max(Math.floor((clip.frames - 1) / multiple()), 1);
const mostSteps = (one) => Math.max(latents() - (one.kind === 'video' ? 1 : 0), 0);
const stepOf = (one) => Math.min(Math.round(one.at * latents()), mostSteps(one));
function frameOf(one) {
  if (one.kind === 'audio') return 0;
  const step = stepOf(one);
  const sounds = Boolean(model()?.sound);
  if (step === 0) return 0;
  if (step === latents()) return sounds ? clip.frames - multiple() : clip.frames - 1;
  return step * multiple() + (one.kind === 'image' || sounds ? 1 : 0);
}

// Without their bytes they tell an estimate enough.
function conditions(bytes) {
  return pins.filter(isTaken).map((one) => {
    const made = { ...bytes && one.ahead ? nameOf(one) : { [one.kind]: bytes ? one.data : '' }, ...isReference(one) ? referenceOf(one) : isRefined(one) ? { use: REFINE } : { frameIndex: frameOf(one) } };
    if (!bytes) made.sizeBytes = String(one.size);
    pinsSent.set(made, one);
    return made;
  });
}

// How long the video will be, where the form leaves that to a model or a preset.
async function knowLength() {
  const typed = Number(byId('frames').value);
  const defaults = model()?.defaults || {};
  const asked = { model: byId('model').value, preset: byId('preset').value, prompt: 'x' };
  const key = JSON.stringify(asked);
  if (!lengths.has(key)) {
    lengths.set(key, asked.preset ? askJson('/reel/v1/videos:estimate', { method: 'POST', json: { spec: asked } }).then((cost) => cost.spec)
      .catch(() => { lengths.delete(key); return defaults; }) : defaults);
  }
  const usual = await lengths.get(key);
  clip = { frames: typed || usual.numFrames || 0, rate: usual.frameRate || 24 };
  for (const one of pins) showPlace(one);
}

function showPlace(one) {
  if (!one.node) return;
  const told = one.node.querySelector('.upload');
  told.textContent = uploadText(one);
  told.classList.toggle('error', Boolean(one.problem));
  if (isReference(one)) return;
  if (one.kind === 'audio') {
    one.node.querySelector('output').textContent = Number.isFinite(one.seconds) ? `sound, ${one.seconds.toFixed(2)} s` : 'sound';
    return;
  }
  const range = one.node.querySelector('input');
  if (one.kind === 'video') showUse(one, range);
  if (isRefined(one)) return;
  range.max = mostSteps(one);
  range.value = stepOf(one);
  const frame = frameOf(one);
  const text = frame === 0 ? 'first' : one.kind === 'image' && stepOf(one) === latents() ? 'last' : `at ${(frame / clip.rate).toFixed(2)} s`;
  range.setAttribute('aria-valuetext', `${text}, frame ${frame}`);
  one.node.querySelector('output').textContent = `${text}, frame ${frame}`;
}

// What is seen of it: a sound is a note.
function pictureOf(one) {
  const picture = one.kind === 'audio' ? element('i', '\u266b') : element(one.kind === 'image' ? 'img' : 'video');
  if (one.kind === 'video') Object.assign(picture, { muted: true, tabIndex: -1, preload: 'auto' });
  if (one.kind === 'image') picture.alt = '';
  else picture.setAttribute('aria-hidden', 'true');
  if (one.kind !== 'audio') picture.src = one.url;
  return picture;
}

// Moves it on the line; a sound stays where it is, and its refusals are shown where it is chosen.
function rangeOf(one, number) {
  const range = element('input');
  Object.assign(range, { type: 'range', min: 0, id: `pin-${number}` });
  range.dataset.path = `conditions[${numberOf(one)}]`;
  range.setAttribute('aria-describedby', `pin-${number}-error`);
  range.addEventListener('input', () => {
    one.at = Number(range.value) / latents();
    showPlace(one);
  });
  return range;
}

function pinNode(one, number) {
  const item = element('li');
  const label = element(one.kind === 'audio' ? 'p' : 'label');
  label.append(element('span', isReference(one) ? `Strength of ${one.name}` : one.name));
  if (isReference(one)) label.append(strengthOf(one));
  else if (one.kind !== 'audio') label.append(rangeOf(one, number));
  const remove = element('button', 'Remove');
  remove.type = 'button';
  remove.setAttribute('aria-label', `Remove ${one.name}`);
  remove.addEventListener('click', () => unpin(one));
  const error = element('p', '', 'error');
  error.id = isReference(one) ? 'reference-strength-error' : `pin-${number}-error`;
  const upload = element('p', '', 'upload');
  upload.setAttribute('role', 'status');
  item.append(pictureOf(one), label, ...isReference(one) ? [] : [element('output')], remove, upload, error, ...one.kind === 'video' && !isReference(one) ? [useNode(one, number)] : []);
  return item;
}

function showLine() {
  for (const label of document.querySelectorAll('#line-row [data-place]')) label.hidden = !isTaken({ kind: label.dataset.place === 'sound' && 'audio' });
  byId('line-row').hidden = !takesPictures() && !takesSounds();
  byId('line-title').textContent = `Dropped or chosen: ${[takesPictures() && 'pictures and clips', takesSounds() && 'a sound'].filter(Boolean).join(', ')}`;
}

function showPins() {
  pins.forEach((one, number) => { one.node = pinNode(one, number); });
  byId('references').replaceChildren(...pins.filter(isReference).map((one) => one.node));
  byId('pins').replaceChildren(...pins.filter((one) => !isReference(one)).map((one) => one.node));
  const pathOf = (one, none) => one && isTaken(one) ? `conditions[${numberOf(one)}]` : none;
  byId('own-sound').dataset.path = pathOf(pins.find((one) => one.kind === 'audio'), 'conditions');
  byId('reference').dataset.path = pathOf(pins.find(isReference), '');
  for (const one of pins) showPlace(one);
  knowLength();
}

// ---- files that are dropped or chosen

// An MP4 that says how it was made fills the form, and can be used as a clip as well. Other clips are conditions where the model takes them.
async function takeDropped(file, place) {
  const isClip = (await kindOf(file) || file.type).startsWith('video');
  if (place || !isClip) return pin(file, place);
  if (takesPictures() && await originText(file).catch(() => null) === null) return pin(file);
  return takeFile(file);
}

// Clears the refusal of the previous file, which estimates do not.
function clearFileErrors() {
  for (const place of ['line-error', 'file-error', 'reference-file-error']) byId(place).textContent = '';
}

const isFile = (one) => one.kind === 'file';
const lineOf = (event) => event.target.closest?.('[data-place]')?.dataset.place;
document.addEventListener('dragover', (event) => { if ([...event.dataTransfer.items].some(isFile)) event.preventDefault(); });
document.addEventListener('drop', async (event) => {
  const files = [...event.dataTransfer.items].filter(isFile).map((one) => one.getAsFile());
  if (!files.length) return;
  event.preventDefault();
  clearFileErrors();
  const place = lineOf(event);
  for (const [at, file] of files.entries()) await takeDropped(file, at ? undefined : place);
});
for (const input of document.querySelectorAll('[data-place] input')) {
  input.addEventListener('change', async () => {
    const [file] = input.files;
    clearFileErrors();
    if (file) await pin(file, lineOf({ target: input }));
    input.value = '';
  });
}
