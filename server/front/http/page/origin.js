// SPDX-License-Identifier: Apache-2.0
// A file that says how it was made.

const HEAD_BYTES = 262144;
const ORIGIN_BYTES = 65536;
const ORIGIN_DEPTH = 8;
const ORIGIN_UUID = '1e8cf22df5c54eba97d18938595855cd';
let origin = null;  // the spec of a file that was dropped, of which the form shows a part
let originFile = null;

// The text in an MP4's head; none: null.
async function originText(file) {
  for (const { type, payload, size } of boxes(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()))) {
    if (type === 'moof' || type === 'mdat') return null;
    const uuid = Array.from(payload.subarray(0, 16), (one) => one.toString(16).padStart(2, '0')).join('');
    if (type === 'uuid' && uuid === ORIGIN_UUID) return size - 24 > ORIGIN_BYTES ? null : new TextDecoder().decode(payload.subarray(16));
  }
  return null;
}

// Names as this page has them; those in `variants` are operators', in `part_scales` parts of a model.
function camelCased(value, depth = 0) {
  if (depth > ORIGIN_DEPTH) throw new Error('it is nested too deep');
  if (Array.isArray(value)) return value.map((one) => camelCased(one, depth + 1));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.replace(/_([a-z])/g, (all, letter) => letter.toUpperCase()),
    name === 'variants' || name === 'part_scales' ? one : camelCased(one, depth + 1)]));
}

// Fills the form with the request of a file. What the form does not show stays as it is there.
async function takeFile(file) {
  clearErrors();
  byId('file-error').textContent = '';
  try {
    const text = await originText(file);
    if (text === null) throw new Error('it does not say how it was made (reel generate --origin spec)');
    // A seed is larger than a number of JavaScript may be; in a text of JSON these quotes have backslashes.
    const found = JSON.parse(text.replace(/([{,])"seed":(\d+)/, '$1"seed":"$2"'));
    if (!found || found.format !== 'reel.origin.1' || !found.spec || typeof found.spec !== 'object') throw new Error('it is of another version');
    if (found.spec.conditions) throw new Error('it was made with pictures, which are not in it; use reel again');
    originFile = file;
    showOrigin(camelCased(found.spec), file.name);
  } catch (error) {
    byId('file-error').textContent = `${file.name}: ${error.message}`;
  }
}

function showOrigin(spec, name) {
  origin = spec;
  const put = (id, value) => { byId(id).value = value === undefined ? '' : value; };
  put('model', spec.model);
  byId('no-negative').checked = spec.negativePrompt === '';
  taken = (spec.adapters || []).map((one) => ({ ...one }));
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
  byId('keep').checked = Boolean(spec.keepState);
  byId('origin-name').textContent = `As in ${name}.`;
  byId('origin').hidden = false;
  byId('origin-clip').hidden = !takesPictures();
  estimateSoon();
}

function forgetOrigin() {
  origin = originFile = null;
  byId('origin').hidden = true;
  byId('origin-file').value = '';
  estimateSoon();
}
