// SPDX-License-Identifier: Apache-2.0
// Run by javascript_client.py where reel-client is installed: use_javascript.js SERVER CUT_FILE CUT_EVENTS CUT_UPLOAD.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { ReelClient, ReelError, adapter, condition, extension, promotion, refinement, retake, sound } from 'reel-client';
import { conditionFromFile, download, refinementFromFile, save, soundFromFile, uploadFile } from 'reel-client/node';

const [server, cutFile, cutEvents, cutUpload] = process.argv.slice(2);
const SPEC = { prompt: 'a red circle', width: 256, height: 256, numFrames: 25, numInferenceSteps: 4, seed: 7 };
const sha256 = (content) => createHash('sha256').update(content).digest('hex');
const kindOf = (event) => Object.keys(event)[0];

function checkSaved(video, path) {
  assert.equal(video.state, 'VIDEO_STATE_SUCCEEDED');
  assert.equal(sha256(readFileSync(path)), video.media.sha256);
  assert(!existsSync(`${path}.part`));
}

const reel = new ReelClient(server);
const kinds = [];
const video = await save(reel, SPEC, 'a.mp4', { onEvent: (event) => kinds.push(kindOf(event)) });
checkSaved(video, 'a.mp4');
assert.equal(kinds[0], 'accepted');
assert.equal(kinds.at(-1), 'finished');
assert(kinds.includes('progress') && kinds.includes('media'), String(kinds));

const whole = readFileSync('a.mp4');
const parts = { fresh: Buffer.alloc(0), resumed: whole.subarray(0, 1000), whole, other: Buffer.alloc(1000, 'x'), longer: Buffer.concat([whole, Buffer.from('x')]) };
for (const [name, part] of Object.entries(parts)) {
  writeFileSync(`${name}.mp4.part`, part);
  await download(reel, video.name, `${name}.mp4`);
  assert.deepEqual(readFileSync(`${name}.mp4`), whole, name);
}
assert.equal((await reel.blob(video.name)).size, whole.length);

await assert.rejects(save(reel, { ...SPEC, width: 33, height: 31 }, 'bad.mp4'), (error) => error instanceof ReelError && error.http === 400
  && error.reason === 'INVALID_SPEC' && ['spec.width', 'spec.height'].every((field) => error.violations.some((one) => one.field === field)));
const grain = adapter('grain', 0.5, { partScales: { audio: 0 }, passScales: [1, 0.25] });
assert.deepEqual(grain, { name: 'grain', scale: 0.5, partScales: { audio: 0 }, passScales: [1, 0.25] });
assert.deepEqual(adapter('grain'), { name: 'grain' });
await assert.rejects(save(reel, { ...SPEC, adapters: [grain] }, 'bad.mp4'), (error) => error.violations[0].field === 'spec.adapters[0].name'
  && error.violations[0].reason === 'ADAPTER_UNKNOWN');
// What is no regular file is refused before the server is asked; behind a link the file is replaced.
mkdirSync('folder');
execFileSync('mkfifo', ['fifo']);
symlinkSync('nothing', 'lost');
const countVideos = async () => { let count = 0; for await (const one of reel.list()) count += one.name ? 1 : 0; return count; };
const before = await countVideos();
for (const name of ['folder', 'fifo', 'lost']) {
  await assert.rejects(save(reel, SPEC, name), (error) => !(error instanceof ReelError), name);
  await assert.rejects(download(reel, video.name, name), (error) => !(error instanceof ReelError), name);
  assert(!existsSync(`${name}.part`), name);
}
assert.equal(await countVideos(), before);
writeFileSync('folder/real.mp4', '');
symlinkSync('folder/real.mp4', 'link.mp4');
await download(reel, video.name, 'link.mp4');
assert(lstatSync('link.mp4').isSymbolicLink());
assert.deepEqual(readFileSync('folder/real.mp4'), whole);

await assert.rejects(reel.get('videos/nothing'), { http: 404, reason: 'VIDEO_NOT_FOUND' });

assert.equal((await reel.get(video.name)).name, video.name);
assert((await reel.estimate(SPEC)).admissible);
assert((await reel.models())[0].isDefault);
const several = await reel.createAll({ ...SPEC, seed: '7' }, 3);
assert.deepEqual(several.map((one) => one.spec.seed), ['7', '8', '9']);
assert.equal(new Set(several.map((one) => one.name)).size, 3);
assert((await reel.info()).version);
assert((await reel.kernels()).ops.length > 0);

// A picture and a clip of the disk, and videos that go on from one that was kept.
const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');
writeFileSync('dot.png', dot);
const draft = await reel.generate({ prompt: 'a red circle', preset: 'two-pass', stopAfterPass: 1 });
const promoted = await reel.generate(promotion(draft, { keepState: true }));
assert.deepEqual([promoted.media.width, Number(promoted.stateSizeBytes) > 0], [2 * draft.media.width, true]);
// A second of silence: 8,000 samples of 16 bits.
const silence = Buffer.concat([Buffer.from('UklGRqQ+AABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YYA+AAA=', 'base64'), Buffer.alloc(16000)]);
writeFileSync('silence.wav', silence);
const own = await soundFromFile('silence.wav');
assert.deepEqual(own, await sound(new Blob([silence])));
const sung = await reel.generate({ prompt: 'a red circle', model: 'singing', numInferenceSteps: 2, conditions: [own] });
assert.deepEqual(sung.spec.conditions.map((one) => one.contentType), ['audio/wav']);
const pinned = [await conditionFromFile('dot.png'), await conditionFromFile('a.mp4', { frameIndex: 8, strength: 0.5 }), await condition(new Blob([dot]), { frameIndex: 24 })];
const film = await reel.generate({ ...SPEC, conditions: pinned, keepState: true });
assert.deepEqual(film.spec.conditions.map((one) => [one.contentType, one.frameIndex ?? 0, one.sizeBytes]),
  [['image/png', 0, '70'], ['video/mp4', 8, String(whole.length)], ['image/png', 24, '70']]);
const longer = await reel.generate(extension(film, 24, { prompt: 'a blue star', overlapFrames: 9 }));
assert.deepEqual([longer.sourceVideo, longer.spec.numFrames, longer.spec.prompt], [film.name, 33, 'a blue star']);
const other = await reel.generate(retake(film.name, 0.25, 25 / 24, { seed: 3 }));
assert.deepEqual([other.spec.numFrames, other.spec.prompt, other.spec.seed], [25, 'a red circle', '3']);
writeFileSync('huge.png', '');
truncateSync('huge.png', 268435457);
await assert.rejects(conditionFromFile('huge.png'), { name: 'RangeError', message: /huge\.png has 268435457 bytes/ });
await assert.rejects(condition(new Uint8Array(0)), RangeError);

// What is too large for a request goes ahead of it by itself, and gives the same video; `upload` tells how far it is.
function padded(clip, size) { // with a box at its end that means nothing
  const padding = Buffer.alloc(size - clip.length);
  padding.writeUInt32BE(padding.length);
  padding.write('free', 4);
  return Buffer.concat([clip, padding]);
}
const bytes = padded(whole, 5_000_000);
writeFileSync('large.mp4', bytes);
const same = [];
for (const path of ['a.mp4', 'large.mp4']) same.push(await reel.generate({ ...SPEC, conditions: [{ ...await conditionFromFile(path) }] }));
assert.deepEqual([same[1].media.sha256, same[1].spec.conditions[0].sizeBytes], [same[0].media.sha256, '5000000']);
assert((await reel.estimate({ ...SPEC, conditions: [await conditionFromFile('large.mp4')] })).admissible);
const refined = await reel.generate(await refinementFromFile('large.mp4', { strength: 0.5, width: 512, height: 512, numFrames: 25 }));
assert.deepEqual([refined.spec.conditions[0].use, refined.spec.denoiseStrength, refined.media.width], ['CONDITION_USE_REFINE', 0.5, 512]);
await assert.rejects(refinement(dot), { name: 'TypeError', message: /only an MP4/ });
const piece = padded(whole, 1 << 20); // four of them are too much for a request
const four = await Promise.all([0, 8, 16, 24].map((frameIndex) => condition(piece, { frameIndex })));
assert((await reel.estimate({ ...SPEC, numFrames: 49, conditions: four })).admissible);
assert.equal((await reel.create({ ...SPEC, numFrames: 49, conditions: four })).spec.conditions.length, 4);
for (const send of [(options) => uploadFile(reel, 'large.mp4', options), (options) => reel.upload(bytes, options), (options) => reel.upload(new Blob([bytes]), options)]) {
  const told = [], uploaded = await send({ onProgress: (sent, size) => told.push([sent, size]) });
  assert.deepEqual([uploaded.name, uploaded.contentType], [`files/${sha256(bytes)}`, 'video/mp4']);
  assert(told.length > 10 && told.every(([sent], at) => at === 0 || sent > told[at - 1][0]), String(told));
  assert.deepEqual(told.at(-1), [5_000_000, 5_000_000]);
}
const named = await reel.generate({ ...SPEC, conditions: [{ file: `files/${sha256(bytes)}` }] });
assert.equal(named.media.sha256, same[0].media.sha256);
await assert.rejects(reel.upload(bytes, { onProgress: () => { throw new Error('mine'); } }), { message: 'mine' });
const giving = new AbortController();
await assert.rejects(reel.upload(bytes, { signal: giving.signal, onProgress: () => giving.abort() }), { name: 'AbortError' });
await assert.rejects(uploadFile(reel, 'huge.png'), RangeError);
await assert.rejects(reel.upload(new Uint8Array((64 << 20) + 1)), { name: 'RangeError', message: /this server takes files of at most 67108864/ });
assert.equal((await new ReelClient(cutUpload).upload(bytes)).name, `files/${sha256(bytes)}`);

// To a server without uploads a file goes in the request where it has room, and is refused by its size where it has not.
const half = await condition(padded(whole, 2_000_000)), others = await countVideos();
for (const [path, answer] of [['files', () => fetch(`${server}/reel/v1/nothing`, { method: 'POST', body: '{}' })],
  ['server', async () => new Response(JSON.stringify({ ...await reel.info(), limits: undefined }))]]) {
  const older = new ReelClient(server, { fetch: (url, options) => (url.endsWith(`/${path}`) ? answer() : fetch(url, options)) });
  const made = await older.create({ ...SPEC, conditions: [half] });
  assert.equal(made.spec.conditions[0].sizeBytes, '2000000');
  await assert.rejects(older.create({ ...SPEC, conditions: [half, { ...half, frameIndex: 8 }] }), { name: 'RangeError', message: /4000000 bytes.*no files ahead/ });
}
assert.equal(await countVideos(), others + 2);

// Leaving ends the job.
const leaving = new AbortController();
let left = '';
await assert.rejects(reel.generate({ ...SPEC, numInferenceSteps: 40 }, {
  signal: leaving.signal, onEvent: (event) => { left ||= event.accepted.name; leaving.abort(); },
}), { name: 'AbortError' });
await assert.rejects(async () => { for await (const event of reel.events(left)) assert(event); }, { reason: 'CANCELLED_BY_OWNER' });

// A file is followed while it grows, and both streams go on where they broke.
const cut = new ReelClient(cutFile);
const large = await cut.create({ ...SPEC, width: 512, height: 512, numFrames: 49, encoding: { crf: 5 } });
const pieces = [], seen = [];
await Promise.all([
  (async () => { for await (const piece of cut.media(large.name)) pieces.push(piece); })(),
  (async () => { for await (const event of new ReelClient(cutEvents).events(large.name)) seen.push(kindOf(event)); })(),
]);
const finished = await reel.get(large.name);
assert(Number(finished.media.sizeBytes) > 300_000);
assert.equal(sha256(Buffer.concat(pieces)), finished.media.sha256);
assert.equal(seen.filter((kind) => kind === 'accepted').length, 1);
assert.equal(seen.at(-1), 'finished');

const names = [];
for await (const one of reel.list()) names.push(one.name);
assert(names.includes(video.name) && names.includes(large.name));
await reel.delete(video.name);
await assert.rejects(reel.get(video.name), { http: 404 });
