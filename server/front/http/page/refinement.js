// SPDX-License-Identifier: Apache-2.0
// Refining a clip of any origin: a preset's second pass renders it larger.

const REFINE = 'CONDITION_USE_REFINE';
const REFINED_PROMPT = 'a sharp, detailed video';  // this and what follows as `reel refine` has it
const REFINED_SECONDS = 30;
const REFINED_SIDE = 1920;
const REFINED_STEP = 64;
const REFINED_RATE = 60;

const canRefine = () => Boolean(model()?.refiningPresets?.length);
const isRefined = (one) => Boolean(one.refine) && canRefine();
const refinedPin = () => pins.find((one) => isTaken(one) && isRefined(one));

// The fields of a request that refines a clip, without the clip.
function refinementOf() {
  const one = refinedPin();
  const made = {};
  if (one?.strength) made.denoiseStrength = Number(one.strength);
  if (one?.rate) made.frameRate = one.rate;
  return made;
}

// Fills empty fields of the form: twice the clip's size, its rate, and its length in whole latents.
async function fillFrom(one) {
  const put = (id, value) => { if (!byId(id).value) byId(id).value = value; };
  const rate = rateOf(new Uint8Array(await one.file.arrayBuffer()));
  if (rate >= 1 && rate <= REFINED_RATE) one.rate = Math.abs(rate - Math.round(rate)) < 2e-4 * rate ? Math.round(rate) : rate;
  const factor = Math.min(2, REFINED_SIDE / Math.max(one.width, one.height));
  const side = (pixels) => Math.max(Math.round(pixels * factor / REFINED_STEP), 1) * REFINED_STEP;
  if (!byId('width').value && !byId('height').value) {
    put('width', side(one.width));
    put('height', side(one.height));
  }
  const frames = Math.floor(Math.min(one.seconds, REFINED_SECONDS) * (one.rate || clip.rate) + 1e-6);
  put('frames', Math.floor((Math.max(frames, 1) - 1) / multiple()) * multiple() + 1);
  put('prompt', REFINED_PROMPT);
}

async function chooseUse(one, refine) {
  for (const other of pins) other.refine = refine && other === one;  // one clip alone
  if (refine) await fillFrom(one);
  showPins();
  one.node.querySelector('select').focus();
  estimateSoon();
}

// The fields below a clip: its use and the strength.
function useNode(one, number) {
  const fields = element('div', undefined, 'fields');
  const put = (text, field, name, path) => {
    const label = element('label', text);
    const error = element('p', '', 'error');
    Object.assign(field, { id: `pin-${number}-${name}`, name });
    field.dataset.path = path;
    error.id = `${field.id}-error`;
    field.setAttribute('aria-describedby', error.id);
    label.append(field);
    fields.append(label, error);
  };
  const use = element('select');
  use.append(new Option('as frames', ''), new Option('refined', 'refine'));
  use.addEventListener('change', () => chooseUse(one, Boolean(use.value)));
  put('Use the clip ', use, 'use', `conditions[${numberOf(one)}]`);
  const strength = element('input');
  Object.assign(strength, { type: 'number', step: 'any', inputMode: 'decimal', value: one.strength || '' });
  strength.addEventListener('input', () => { one.strength = strength.value; });
  put('Strength ', strength, 'strength', 'denoise_strength');
  return fields;
}

function showUse(one, range) {
  const [use, strength] = one.node.querySelectorAll('.fields :is(select, input)');
  const refined = isRefined(one);
  use.closest('.fields').hidden = !canRefine();
  use.value = refined ? 'refine' : '';
  // Errors of the clip are shown at the field that can mend them.
  use.dataset.path = refined ? range.dataset.path : '';
  range.hidden = refined;
  strength.closest('label').hidden = !refined;
  if (refined) one.node.querySelector('output').textContent = one.rate ? `refined, ${Number(one.rate.toFixed(2))} fps` : 'refined';
}

// Shows the strength that the server uses if the field is empty.
function showUsualStrength(resolved) {
  const field = document.querySelector('#pins [name=strength]:not([hidden] *)');
  if (field) field.placeholder = resolved?.denoiseStrength ?? '';
}
