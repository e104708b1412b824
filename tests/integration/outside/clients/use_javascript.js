// SPDX-License-Identifier: Apache-2.0
// Run by javascript_client.py where reel-client is installed: use_javascript.js SERVER CUT_FILE CUT_EVENTS.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { ReelClient, ReelError, adapter, condition, extension, promotion, retake, sound } from 'reel-client';
import { conditionFromFile, download, save, soundFromFile } from 'reel-client/node';

const [server, cutFile, cutEvents] = process.argv.slice(2);
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
writeFileSync('huge.png', Buffer.alloc(3670017));
await assert.rejects(conditionFromFile('huge.png'), { name: 'RangeError', message: /huge\.png has 3670017 bytes/ });
await assert.rejects(condition(new Uint8Array(0)), RangeError);

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
