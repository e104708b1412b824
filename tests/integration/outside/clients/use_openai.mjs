// SPDX-License-Identifier: Apache-2.0
// Run by openai_node.py where the openai package of npm is installed: use_openai.mjs SERVER. It knows nothing of Reel.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI, { APIError, toFile } from 'openai';

const [server, picture] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: `http://${server}/v1`, apiKey: 'unused', maxRetries: 0 });
const CLIP = { prompt: 'a red circle', size: '256x256', num_frames: 9, num_inference_steps: 4, seed: 7 };
const sha256 = (content) => createHash('sha256').update(content).digest('hex');

async function finished(video) {
  for (let seen = 0; ; await pause(20)) {
    const now = await openai.videos.retrieve(video.id);
    assert(now.progress >= seen, `progress fell from ${seen} to ${now.progress}`);
    seen = now.progress;
    if (now.status === 'completed') return now;
    assert(['queued', 'in_progress'].includes(now.status), JSON.stringify(now));
  }
}

const contentOf = async (video) => Buffer.from(await (await openai.videos.downloadContent(video.id)).arrayBuffer());

async function refused(call, status, code) {
  await assert.rejects(call, (error) => error instanceof APIError && error.status === status && error.code === code && Boolean(error.requestID));
}

const [model] = (await openai.models.list()).data;
const first = await finished(await openai.videos.create({ ...CLIP, model: model.id }));
assert.equal(first.size, CLIP.size);
assert.equal(first.error, null);
const second = await openai.videos.create(CLIP, { headers: { Prefer: 'wait=30', 'Idempotency-Key': 'again' } });
assert.equal(second.status, 'completed');
assert.equal((await openai.videos.create(CLIP, { headers: { 'Idempotency-Key': 'again' } })).id, second.id);
const pair = await openai.videos.create({ ...CLIP, seed: 7, n: 2 }, { headers: { Prefer: 'wait=30' } });
assert.deepEqual(pair.videos.map((one) => [one.status, one.seed]), [['completed', 7], ['completed', 8]]);
for (const one of pair.videos) assert.equal((await openai.videos.delete(one.id)).deleted, true);
const files = await Promise.all([first, second].map(contentOf));
assert.equal(files[0].subarray(4, 8).toString(), 'ftyp');
assert.equal(sha256(files[0]), sha256(files[1]));
const shown = await finished(await openai.videos.create({ ...CLIP, input_reference: await toFile(Buffer.from(picture, 'base64'), 'red.png', { type: 'image/png' }) }));

const listed = [];
for await (const video of openai.videos.list({ limit: 2 })) listed.push(video.id);
assert.deepEqual(new Set(listed), new Set([first.id, second.id, shown.id]));
assert.equal(listed.length, 3);

await refused(() => openai.videos.create({ ...CLIP, size: '1280x720' }), 400, 'INVALID_SPEC');
await refused(() => openai.videos.create({ ...CLIP, model: 'none' }), 404, 'MODEL_NOT_FOUND');
await refused(() => openai.videos.retrieve('none'), 404, 'VIDEO_NOT_FOUND');
for (const id of listed) assert.equal((await openai.videos.delete(id)).deleted, true);
assert.equal((await openai.videos.list()).data.length, 0);
console.log(`${listed.length} videos made, listed, downloaded and deleted`);
