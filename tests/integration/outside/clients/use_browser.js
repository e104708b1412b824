// SPDX-License-Identifier: Apache-2.0
// Run by javascript_browser.py in a page whose origin is not the server's: ?server=&file=&events= are its addresses, the last two through
// connections that break. `outcome` says what came of it.
import { ReelClient, ReelError } from 'reel-client';

const at = (name) => `http://${new URLSearchParams(location.search).get(name)}`;
const SPEC = { prompt: 'a red circle', width: 256, height: 256, numFrames: 25, numInferenceSteps: 4, seed: 7 };
const kindOf = (event) => Object.keys(event)[0];

function check(holds, what) {
  if (!holds) throw new Error(what);
}

async function refusalOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

async function sha256(pieces) {
  const digest = await crypto.subtle.digest('SHA-256', await new Blob(pieces).arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function plays(file) {
  const video = document.createElement('video');
  video.src = URL.createObjectURL(file);
  await new Promise((done, failed) => { video.oncanplaythrough = done; video.onerror = () => failed(new Error('it cannot be played')); });
  return video.videoWidth;
}

async function rendersAndRefuses(reel) {
  const kinds = [];
  const video = await reel.generate(SPEC, { onEvent: (event) => kinds.push(kindOf(event)) });
  check(kinds[0] === 'accepted' && kinds.at(-1) === 'finished' && kinds.includes('progress') && kinds.includes('media'), `events: ${kinds}`);
  check(await plays(await reel.blob(video.name)) === 256, 'its width is another');  // blob compares the hash
  const bad = await refusalOf(reel.create({ ...SPEC, width: 33 }));
  check(bad instanceof ReelError && bad.reason === 'INVALID_SPEC' && bad.violations[0].field === 'spec.width', `refused by ${bad}`);
  await reel.delete(video.name);
  check((await refusalOf(reel.get(video.name))).http === 404, 'it is still there');
}

// A file goes ahead of its request, and says how far it is.
async function uploads(reel) {
  const bytes = new Uint8Array(3000000), told = [];
  bytes.set([0, 0, 0, 8, 102, 116, 121, 112]);
  const { name } = await reel.upload(bytes, { onProgress: (sent) => told.push(sent) });
  check(name === `files/${await sha256([bytes])}` && told.at(-1) === bytes.length, `${name}, told ${told}`);
  const giving = new AbortController();
  const ended = await refusalOf(reel.upload(bytes, { signal: giving.signal, onProgress: () => giving.abort() }));
  check(ended.name === 'AbortError', `ended by ${ended}`);
}

async function leaves(reel) {
  const leaving = new AbortController();
  let left = '';
  const ended = await refusalOf(reel.generate({ ...SPEC, numInferenceSteps: 40 }, {
    signal: leaving.signal, onEvent: (event) => { left ||= event.accepted.name; leaving.abort(); },
  }));
  check(ended.name === 'AbortError', `ended by ${ended}`);
  const cause = await refusalOf((async () => { for await (const event of reel.events(left)) check(event, 'nothing'); })());
  check(cause.reason === 'CANCELLED_BY_OWNER', `cancelled by ${cause}`);
}

// Both streams go on where they broke, while the file grows.
async function follows(reel, file, events) {
  const { name } = await file.create({ ...SPEC, width: 512, height: 512, numFrames: 49, encoding: { crf: 5 } });
  const pieces = [], seen = [];
  let before = 0;
  await Promise.all([
    (async () => { for await (const piece of file.media(name)) { pieces.push(piece); before ||= seen.includes('finished') ? 0 : 1; } })(),
    (async () => { for await (const event of events.events(name)) seen.push(kindOf(event)); })(),
  ]);
  const { media } = await reel.get(name);
  check(before, 'the file came only when it was finished');
  check(await sha256(pieces) === media.sha256, 'the file that grew is another');
  check(seen.filter((kind) => kind === 'accepted').length === 1 && seen.at(-1) === 'finished', `events: ${seen}`);
  return { bytes: Number(media.sizeBytes), pieces: pieces.length, events: seen.length };
}

async function main() {
  const reel = new ReelClient(at('server'));
  check((await reel.models())[0].isDefault && (await reel.info()).version, 'no model');
  await rendersAndRefuses(reel);
  await uploads(reel);
  await leaves(reel);
  return follows(reel, new ReelClient(at('file')), new ReelClient(at('events')));
}

main().then((figures) => { window.outcome = { figures }; }, (error) => { window.outcome = { error: `${error.stack}` }; });
