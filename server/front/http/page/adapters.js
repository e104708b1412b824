// SPDX-License-Identifier: Apache-2.0
// Adapters (LoRA) of the model: which a video takes, and how much of each.

const MOST_ADAPTERS = 8;
const SCALE_STEP = 0.05;
const MOST_SCALE = 4;
let taken = [];  // as a request names them

const adapterOf = (name) => (model()?.adapters || []).find((one) => one.name === name);
// As --adapter takes it.
const adapterWord = ({ name, scale, partScales, passScales }) => name + (scale === undefined ? '' : `:${scale}`) +
  Object.entries(partScales || {}).map(([part, own]) => `,${part}=${own}`).join('') + (passScales?.length ? `,pass=${passScales.join('/')}` : '');

// The clip that an adapter (IC-LoRA) of the request looks at.
const wantsReference = () => taken.some((one) => adapterOf(one.name)?.wantsReference);
const referenceOf = (one) => ({ use: 'CONDITION_USE_REFERENCE', ...one.strength ? { strength: Number(one.strength) } : {} });
function strengthOf(one) {
  const field = element('input');
  Object.assign(field, { type: 'number', min: 0, max: 1, step: 'any', inputMode: 'decimal', placeholder: 1, id: 'reference-strength', value: one.strength || '' });
  field.dataset.path = `conditions[${numberOf(one)}].strength`;
  field.setAttribute('aria-describedby', 'reference-strength-error');
  field.addEventListener('input', () => { one.strength = field.value; });
  return field;
}

function takeAdapter(name) {
  if (taken.length >= MOST_ADAPTERS || !adapterOf(name) || taken.some((one) => one.name === name)) return;
  taken.push({ name, scale: adapterOf(name).defaultScale ?? 1 });
  showAdapters();
  byId(`adapter-${taken.length - 1}`).focus();
}

function adapterNode(one, number) {
  const item = element('li');
  const label = element('label');
  const range = element('input');
  const most = adapterOf(one.name)?.maxScale || MOST_SCALE;
  const told = element('output');
  const show = () => { told.textContent = one.scale ?? 1; };
  Object.assign(range, { type: 'range', min: -most, max: most, step: SCALE_STEP, id: `adapter-${number}`, value: one.scale ?? 1 });
  range.dataset.path = `adapters[${number}]`;
  range.setAttribute('aria-describedby', `adapter-${number}-error`);
  range.addEventListener('input', () => {
    one.scale = Number(range.value);
    show();
  });
  show();
  label.append(element('span', one.name), range);
  label.title = adapterOf(one.name)?.description || '';
  const remove = element('button', 'Remove');
  remove.type = 'button';
  remove.setAttribute('aria-label', `Remove ${one.name}`);
  remove.addEventListener('click', () => {
    taken = taken.filter((other) => other !== one);
    showAdapters();
    byId('adapter').focus();
    estimateSoon();
  });
  const error = element('p', '', 'error');
  error.id = `adapter-${number}-error`;
  item.append(label, told, remove, error);
  return item;
}

// Of the chosen model; the server refuses those that it has not, by name.
function showAdapters() {
  const offered = (model()?.adapters || []).map((one) => one.name);
  const left = offered.filter((name) => !taken.some((one) => one.name === name));
  fillSelect(byId('adapter'), left, left.length ? 'add one' : 'no more');
  byId('adapter').value = '';
  byId('adapter').disabled = !left.length || taken.length >= MOST_ADAPTERS;
  byId('adapters').replaceChildren(...taken.map(adapterNode));
  byId('adapter-row').hidden = !offered.length && !taken.length;
  byId('reference-row').hidden = !wantsReference();
  showPins();
}

// A button takes what is chosen, so that arrows may pass over names.
byId('adapter-add').addEventListener('click', () => {
  takeAdapter(byId('adapter').value);
  estimateSoon();
});
