// SPDX-License-Identifier: Apache-2.0
// Requests that begin from something: a picture, clip or sound, or a video that has kept its state. Each goes wherever a prompt does.

const MOST_CONDITION_BYTES = 3670016; // of all conditions of a request together
const PIECE = 0x8000;                 // arguments of one call
const nameOf = (video) => (typeof video === 'string' ? video : video.name);

function base64Of(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

async function bytesOf(file) {
  const size = file.size ?? file.byteLength;
  if (!(size > 0 && size <= MOST_CONDITION_BYTES)) {
    throw new RangeError(`${file.name ?? 'the file'} has ${size} bytes; conditions have 1 to ${MOST_CONDITION_BYTES} together`);
  }
  return file instanceof Uint8Array ? file : new Uint8Array(file instanceof ArrayBuffer ? file : await file.arrayBuffer());
}

/** A PNG, JPEG, WebP or MP4 (a Blob or File, or its bytes) that the video follows from `frameIndex` on. */
export async function condition(file, { frameIndex = 0, strength } = {}) {
  const bytes = await bytesOf(file);
  const isClip = String.fromCharCode(...bytes.subarray(4, 8)) === 'ftyp';
  return { [isClip ? 'video' : 'image']: base64Of(bytes), frameIndex, ...(strength === undefined ? {} : { strength }) };
}

/** A WAV, FLAC, MP3 or MP4 (a Blob or File, or its bytes) whose sound the video has, and its pictures follow. */
export const sound = async (file) => ({ audio: base64Of(await bytesOf(file)) });

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
