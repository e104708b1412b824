// SPDX-License-Identifier: Apache-2.0
// The form, what it asks for, and where refusals of it are shown.

const FIELDS = ['prompt', 'preset', 'width', 'height', 'frames', 'steps', 'seed', 'count', 'negative', 'guidance', 'kernels', 'crf', 'draft', 'keep', 'adapter'];
const count = () => Number(byId('count').value);
const model = () => models.find((one) => one.name === byId('model').value) || models[0];

// `bytes`: with those of pictures, clips and a sound.
function spec(bytes = true) {
  const value = (id) => byId(id).value.trim();
  const made = { ...origin, prompt: value('prompt') };
  const put = (name, id, read = Number) => {
    if (value(id) !== '') made[name] = read(value(id));
    else delete made[name];
  };
  put('model', 'model', String);
  put('preset', 'preset', String);
  put('width', 'width');
  put('height', 'height');
  put('numFrames', 'frames');
  put('numInferenceSteps', 'steps');
  put('seed', 'seed', String);
  put('negativePrompt', 'negative', String);
  if (byId('no-negative').checked && !byId('no-negative-row').hidden) made.negativePrompt = '';
  put('guidanceScale', 'guidance');
  if (made.numInferenceSteps) delete made.timesteps;
  put('kernels', 'kernels', (profile) => origin?.kernels?.profile === profile ? origin.kernels : { profile });
  put('encoding', 'crf', (crf) => ({ ...origin?.encoding, crf: Number(crf) }));
  if (byId('draft').checked && !byId('draft-row').hidden) made.stopAfterPass = origin?.stopAfterPass || 1;
  else delete made.stopAfterPass;
  if (byId('keep').checked) made.keepState = true;
  else delete made.keepState;
  const held = conditions(bytes);
  if (held.length) made.conditions = held;
  Object.assign(made, refinementOf());
  if (taken.length) made.adapters = taken.map((one) => ({ ...one }));
  else delete made.adapters;
  made.preview = { everySteps: 2 };
  return made;
}

// Keeps what was chosen where it is still there.
function fillSelect(select, names, first) {
  const chosen = select.value;
  select.replaceChildren();
  if (first !== undefined) select.append(new Option(first, ''));
  for (const name of names) select.append(new Option(name, name));
  if (names.includes(chosen)) select.value = chosen;
}

function insertWord(word) {
  const field = byId('prompt');
  const before = field.value.slice(0, field.selectionStart);
  const after = field.value.slice(field.selectionEnd);
  const text = (before && !/\s$/.test(before) ? ' ' : '') + word + (after && !/^\s/.test(after) ? ' ' : '');
  field.value = before + text + after;
  field.selectionStart = field.selectionEnd = before.length + text.length;
  field.focus();
  estimateSoon();
}

function showModel() {
  const chosen = model();
  if (!chosen) return;
  const defaults = chosen.defaults || {};
  byId('width').placeholder = defaults.width || '';
  byId('height').placeholder = defaults.height || '';
  byId('frames').placeholder = defaults.numFrames || '';
  byId('steps').placeholder = defaults.numInferenceSteps || '';
  byId('guidance').placeholder = defaults.guidanceScale || '';
  byId('negative').placeholder = defaults.negativePrompt || '';
  byId('no-negative-row').hidden = !defaults.negativePrompt;
  byId('negative').disabled = byId('no-negative').checked && Boolean(defaults.negativePrompt);
  byId('width').step = byId('height').step = chosen.spatialMultiple;
  byId('frames').step = chosen.temporalMultiple;
  byId('frames').min = 1;
  fillSelect(byId('preset'), chosen.presets || [], 'usual');
  byId('preset-row').hidden = byId('draft-row').hidden = !(chosen.presets || []).length;
  showLine();
  showAdapters();
  knowLength();
  byId('words').replaceChildren();
  for (const group of chosen.promptWords || []) {
    const row = element('div');
    row.append(element('span', group.name));
    for (const word of group.words) {
      const chip = element('button', word);
      chip.type = 'button';
      chip.addEventListener('click', () => insertWord(word));
      row.append(chip);
    }
    byId('words').append(row);
  }
}

// `data-path`: the fields of a spec that one of a form stands for.
function fieldOf(path, fields) {
  const bare = path.replace(/^spec\./, '');
  return fields.find((field) => field.dataset.path.split(' ').some((own) => bare === own || bare.startsWith(`${own}.`)));
}

const formFields = () => [...FIELDS.map(byId), ...document.querySelectorAll('#pins :is(input, select), #adapters input, #references input'), byId('reference'), byId('own-sound'), byId('first-picture')]
  .filter((field) => !field.closest('[data-place][hidden], #pins [hidden], #reference-row[hidden]'));

function clearErrors(fields = formFields(), refusal = byId('refusal')) {
  refusal.textContent = '';
  for (const field of fields) {
    field.removeAttribute('aria-invalid');
    const place = byId(`${field.id}-error`);
    if (place) place.textContent = '';
  }
}

// Each violation where its field is, the rest as `refusal`.
function showError(error, focus, fields = formFields(), refusal = byId('refusal')) {
  if (showMissingFile(error)) return;
  const placed = [];
  for (const violation of error.violations || []) {
    const field = violation.reason === 'ADAPTER_WANTS_REFERENCE' && fields.includes(byId('reference')) ? byId('reference') : fieldOf(violation.field, fields);
    if (!field) continue;
    placed.push(field);
    field.setAttribute('aria-invalid', 'true');
    const place = byId(`${field.id}-error`);
    place.textContent = `${place.parentNode.id === 'field-errors' ? `${field.dataset.path}: ` : ''}${violation.description}`;
  }
  if (!placed.length || placed.length < (error.violations || []).length) refusal.textContent = error.message;
  if (focus && placed.length) {
    const hidden = placed[0].closest('details');
    if (hidden) hidden.open = true;
    placed[0].focus();
  }
}

// What a request would cost, and why it would be refused.
async function estimateOf(wanted) {
  try {
    const cost = await askJson('/reel/v1/videos:estimate', { method: 'POST', json: wanted });
    let text = `Estimate: ${shown(seconds(cost.runP50))} s${wanted.count > 1 ? ' each' : ''}`;
    text += cost.queuePosition ? `, ${cost.queuePosition} ahead (${shown(seconds(cost.queue))} s)` : ', no queue';
    const bytes = Number(cost.peakMemoryBytes || 0);
    if (bytes) text += `, ${(bytes / 1048576).toFixed(0)} MB`;
    return { text, spec: cost.spec, wrong: cost.admissible || !cost.refusal ? null : takenError(cost.refusal) };
  } catch (error) {
    return { text: '', wrong: error };
  }
}

let estimateTimer = 0;
let estimates = 0;
function estimateSoon() {
  clearTimeout(estimateTimer);
  estimateTimer = setTimeout(estimate, 300);
}
async function estimate() {
  const own = ++estimates;
  if (!byId('prompt').value.trim()) {
    byId('estimate').textContent = '';
    return clearErrors();
  }
  const { text, wrong, spec: resolved } = await estimateOf({ spec: spec(false), count: count() });
  if (own !== estimates) return;
  clearErrors();
  byId('estimate').textContent = text;
  showUsualStrength(resolved);
  if (wrong) showError(wrong, false);
}
