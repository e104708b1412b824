// SPDX-License-Identifier: Apache-2.0
// Requests that begin from something: a picture, clip or sound, or a video that has kept its state. Each goes wherever a prompt does.

import { SENT_AHEAD_BYTES, SOURCE, base64Of, sizeOf } from './uploads.js';

const REFINED_PROMPT = 'a sharp, detailed video'; // the API wants one; the clip says most of what it would
const nameOf = (video) => (typeof video === 'string' ? video : video.name);

async function bytesOf(file) {
  sizeOf(file);
  return file instanceof Uint8Array ? file : new Uint8Array(file instanceof ArrayBuffer ? file : await file.arrayBuffer());
}

const isMp4 = (bytes) => String.fromCharCode(...bytes.subarray(4, 8)) === 'ftyp';
// A file that is too large for a request has its size here, for estimates; create() and createAll() upload it.
const sourceOf = (kind, bytes) => ({
  ...(bytes.length > SENT_AHEAD_BYTES ? { [kind]: '', sizeBytes: String(bytes.length) } : { [kind]: base64Of(bytes) }), [SOURCE]: bytes,
});

/** A PNG, JPEG, WebP or MP4 (a Blob or File, or its bytes) that the video follows from `frameIndex` on. */
export async function condition(file, { frameIndex = 0, strength } = {}) {
  const bytes = await bytesOf(file);
  return { ...sourceOf(isMp4(bytes) ? 'video' : 'image', bytes), frameIndex, ...(strength === undefined ? {} : { strength }) };
}

/** A WAV, FLAC, MP3 or MP4 (a Blob or File, or its bytes) whose sound the video has, and its pictures follow. */
export const sound = async (file) => sourceOf('audio', await bytesOf(file));

/** An MP4 of any origin (a Blob or File, or its bytes), refined by the second pass of a preset of two. `strength` is how much noise it gets; without `width`,
 * `height`, `numFrames` and `frameRate` the preset's hold. */
export async function refinement(file, { prompt = REFINED_PROMPT, strength, conditions = [], ...fields } = {}) {
  const bytes = await bytesOf(file);
  if (!isMp4(bytes)) throw new TypeError(`only an MP4 is refined: ${file.name ?? 'the file'}`);
  const clip = { ...sourceOf('video', bytes), use: 'CONDITION_USE_REFINE' };
  return { ...fields, prompt, ...(strength === undefined ? {} : { denoiseStrength: strength }), conditions: [...conditions, clip] };
}

/** An adapter (LoRA) of the model, for `adapters: [...]`: `partScales` by part of the model, `passScales` by pass of the preset, each times `scale`. */
export const adapter = (name, scale, { partScales, passScales } = {}) => (
  { name, ...(scale === undefined ? {} : { scale }), ...(partScales && { partScales }), ...(passScales && { passScales }) });

/** The rest of a draft. With `keepState` others can go on from that, too. */
export const promotion = (video, { keepState } = {}) => ({ ...(keepState === undefined ? {} : { keepState }), source: { video: nameOf(video), promote: {} } });

/** So many frames behind the video's last ones, of which `overlapFrames` come first (0: 25). Without a prompt: the video's. */
export const extension = (video, numFrames, { overlapFrames = 0, ...fields } = {}) => (
  { ...fields, source: { video: nameOf(video), extend: { numFrames, overlapFrames } } });

/** The video once more, with the seconds from `begin` to `end` made anew. Without a prompt: the video's. */
export const retake = (video, begin, end, { keepPictures = false, keepSound = false, ...fields } = {}) => (
  { ...fields, source: { video: nameOf(video), retake: { begin: secondsOf(begin), end: secondsOf(end), keepPictures, keepSound } } });

// Cut, not rounded: an end behind the video's would be refused.
const secondsOf = (value) => `${(Math.trunc(value * 1e6) / 1e6).toFixed(6)}s`;
