// SPDX-License-Identifier: Apache-2.0
// The page: asks for videos and plays them while they are made. Whatever comes from outside is put in as text.
// The build joins these files into one script, this one first (../CMakeLists.txt).
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
let limits = {};  // of the server, for every model
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

// The error of a reply, with the server's message and violations. `body`: its JSON, or null, as from a proxy.
function refusalOf(status, body) {
  const error = new Error(`The server answered ${status}`);
  error.status = status;
  if (body?.error) takeError(error, body.error);
  if (status === 401) byId('token-row').hidden = false;
  return error;
}

// A reply, or an error.
async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (options.json) headers['Content-Type'] = 'application/json';
  const reply = await fetch(path, {
    ...options, headers, body: options.json ? JSON.stringify(options.json) : undefined, cache: 'no-store',
  });
  if (reply.ok) return reply;
  throw refusalOf(reply.status, await reply.json().catch(() => null));
}
const askJson = async (path, options) => (await ask(path, options)).json();

function takeError(error, status) {
  error.message = status.message || error.message;
  error.violations = (status.details || []).flatMap((detail) => detail.fieldViolations || []);
}

function takenError(status) {
  const error = new Error(status.message);
  takeError(error, status);
  return error;
}
