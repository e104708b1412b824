// SPDX-License-Identifier: Apache-2.0
// Pictures and clips that the video must contain, on a line of its time: the first, the last, and those between.

const MOST_PINS = 4;
const MOST_PIN_BYTES = 3670016;     // of all together, as the server bounds them
const MOST_PIN_PIXELS = 16000000;
const MAGIC = [['image/png', [0x89, 0x50, 0x4e, 0x47]], ['image/jpeg', [0xff, 0xd8, 0xff]], ['image/webp', [0x52, 0x49, 0x46, 0x46]]];
let pins = [];                      // { name, kind: 'image' or 'video', data: base64, size, url, at: 0 to 1 of the time }
let clip = { frames: 0, rate: 0 };   // of the video that is asked for
const lengths = new Map();          // by model and preset, of requests that do not say
const fileNames = new WeakMap();    // of conditions that were sent

const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MB`;
const takesPictures = () => Boolean(model()?.supportsConditions);

// What a file is, by its first bytes; neither a picture nor a clip: empty.
async function kindOf(file) {
  const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  const text = String.fromCharCode(...head);
  if (text.slice(4, 8) === 'ftyp') return 'video';
  const found = MAGIC.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte));
  return found && (found[0] !== 'image/webp' || text.slice(8, 12) === 'WEBP') ? 'image' : '';
}

async function checkPicture(file) {
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) throw new Error('is damaged: it cannot be read as a picture');
  const { width, height } = picture;
  picture.close();
  if (width * height > MOST_PIN_PIXELS) throw new Error(`has ${width}x${height} pixels; at most ${MOST_PIN_PIXELS / 1e6} million are taken`);
}

function checkClip(url) {
  return new Promise((done, refuse) => {
    const video = element('video');
    video.preload = 'metadata';
    video.onloadedmetadata = () => video.videoWidth ? done() : refuse(new Error('has no pictures'));
    video.onerror = () => refuse(new Error('cannot be read as a clip; an MP4 with H.264 can'));
    video.src = url;
  });
}

const base64Of = (file) => new Promise((done, refuse) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(',') + 1));
  reader.onerror = () => refuse(new Error('cannot be read'));
  reader.readAsDataURL(file);
});

// A picture or clip from a file. What could not be used is refused before anything is sent.
async function pinOf(file, others) {
  const size = others.reduce((sum, pin) => sum + pin.size, file.size);
  if (file.size === 0) throw new Error('is empty');
  if (size > MOST_PIN_BYTES) {
    throw new Error(`has ${megabytes(file.size)}; all pictures and clips together have at most ${megabytes(MOST_PIN_BYTES)}, and a JPEG of the video's size is enough`);
  }
  const kind = await kindOf(file);
  if (!kind) throw new Error('is no picture (PNG, JPEG, WebP) and no clip (MP4)');
  const url = URL.createObjectURL(file);
  try {
    await (kind === 'image' ? checkPicture(file) : checkClip(url));
    return { name: file.name, kind, size: file.size, url, data: await base64Of(file) };
  } catch (error) {
    URL.revokeObjectURL(url);
    throw error;
  }
}

// `place`: 'first', 'middle' or 'last'; without one the first that is free. One after the other, since each looks for what is free.
let pinning = Promise.resolve();
function pin(file, place) {
  pinning = pinning.then(() => pinNow(file, place));
  return pinning;
}
async function pinNow(file, place) {
  try {
    if (!takesPictures()) throw new Error('this model takes no pictures and clips');
    const taken = (at) => pins.find((one) => one.at === at);
    const free = taken(0) ? taken(1) ? 'middle' : 'last' : 'first';
    const at = { first: 0, middle: 0.5, last: 1 }[place || free];
    const others = pins.filter((one) => at === 0.5 || one.at !== at);
    if (others.length >= MOST_PINS) throw new Error(`would be one more than ${MOST_PINS}; remove one`);
    const made = await pinOf(file, others);
    for (const one of pins) if (!others.includes(one)) URL.revokeObjectURL(one.url);
    pins = [...others, { ...made, at }];
    showPins();
    if (!byId('prompt').value) byId('prompt').focus();
    estimateSoon();
  } catch (error) {
    byId(takesPictures() ? 'line-error' : 'refusal').textContent = `${file.name}: ${error.message}`;
  }
}

function unpin(gone) {
  URL.revokeObjectURL(gone.url);
  const next = pins[pins.indexOf(gone) + 1];
  pins = pins.filter((one) => one !== gone);
  showPins();
  (next ? next.node.querySelector('input') : byId('first-picture')).focus();
  estimateSoon();
}

// Models with sound begin a condition where a latent does, at 0 or 8k + 1; others a picture anywhere, and a clip at 8k.
const multiple = () => model()?.temporalMultiple || 8;
const latents = () => Math.max(Math.floor((clip.frames - 1) / multiple()), 1);
const mostSteps = (one) => Math.max(latents() - (one.kind === 'video' ? 1 : 0), 0);
const stepOf = (one) => Math.min(Math.round(one.at * latents()), mostSteps(one));
function frameOf(one) {
  const step = stepOf(one);
  const sounds = Boolean(model()?.sound);
  if (step === 0) return 0;
  if (step === latents()) return sounds ? clip.frames - multiple() : clip.frames - 1;
  return step * multiple() + (one.kind === 'image' || sounds ? 1 : 0);
}

function conditions() {
  if (!takesPictures()) return [];
  return pins.map((one) => {
    const made = { [one.kind]: one.data, frameIndex: frameOf(one) };
    fileNames.set(made, one.name);
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
  const range = one.node.querySelector('input');
  range.max = mostSteps(one);
  range.value = stepOf(one);
  const frame = frameOf(one);
  const text = frame === 0 ? 'first' : one.kind === 'image' && stepOf(one) === latents() ? 'last' : `at ${(frame / clip.rate).toFixed(2)} s`;
  range.setAttribute('aria-valuetext', `${text}, frame ${frame}`);
  one.node.querySelector('output').textContent = `${text}, frame ${frame}`;
}

function pinNode(one, number) {
  const item = element('li');
  const picture = element(one.kind === 'image' ? 'img' : 'video');
  picture.src = one.url;
  if (one.kind === 'image') picture.alt = '';
  else Object.assign(picture, { muted: true, tabIndex: -1, preload: 'auto' }).setAttribute('aria-hidden', 'true');
  const range = element('input');
  Object.assign(range, { type: 'range', min: 0, id: `pin-${number}` });
  range.dataset.path = `conditions[${number}]`;
  range.setAttribute('aria-describedby', `pin-${number}-error`);
  range.addEventListener('input', () => {
    one.at = Number(range.value) / latents();
    showPlace(one);
  });
  const label = element('label');
  label.append(element('span', one.name), range);
  const remove = element('button', 'Remove');
  remove.type = 'button';
  remove.setAttribute('aria-label', `Remove ${one.name}`);
  remove.addEventListener('click', () => unpin(one));
  const error = element('p', '', 'error');
  error.id = `pin-${number}-error`;
  item.append(picture, label, element('output'), remove, error);
  return item;
}

function showPins() {
  pins.forEach((one, number) => { one.node = pinNode(one, number); });
  byId('pins').replaceChildren(...pins.map((one) => one.node));
  for (const one of pins) showPlace(one);
  knowLength();
}

// ---- files that are dropped or chosen

// An MP4 that says how it was made fills the form, and can be used as a clip as well. Other clips are conditions where the model takes them.
async function takeDropped(file, place) {
  const isClip = file.type === 'video/mp4' || await kindOf(file) === 'video';
  if (place || !isClip) return pin(file, place);
  if (takesPictures() && await originText(file).catch(() => null) === null) return pin(file);
  return takeFile(file);
}

const isFile = (one) => one.kind === 'file';
const lineOf = (event) => event.target.closest?.('[data-place]')?.dataset.place;
document.addEventListener('dragover', (event) => { if ([...event.dataTransfer.items].some(isFile)) event.preventDefault(); });
document.addEventListener('drop', async (event) => {
  const files = [...event.dataTransfer.items].filter(isFile).map((one) => one.getAsFile());
  if (!files.length) return;
  event.preventDefault();
  byId('line-error').textContent = '';
  const place = lineOf(event);
  for (const [at, file] of files.entries()) await takeDropped(file, at ? undefined : place);
});
for (const input of document.querySelectorAll('[data-place] input')) {
  input.addEventListener('change', async () => {
    const [file] = input.files;
    byId('line-error').textContent = '';
    if (file) await pin(file, lineOf({ target: input }));
    input.value = '';
  });
}
