// SPDX-License-Identifier: Apache-2.0
// What the server offers, and what the page listens to.

// Of a model that no worker has loaded yet, a server that has just begun knows the name alone.
const LOADING = 'The server is loading its model.';
const isComing = (one) => one.state === 'MODEL_STATE_LOADING' && !one.family;
let told = '';  // by which what is shown was filled: a reader's focus is lost by filling it again

function showServer(listed, server) {
  limits = server.limits || {};
  const now = JSON.stringify([listed, server.kernelProfiles, server.version, server.workers?.map((one) => one.device)]);
  if (now === told) return;
  told = now;
  models = listed.models || [];
  const profiles = server.kernelProfiles || [];
  fillSelect(byId('model'), models.map((one) => one.name));
  fillSelect(byId('kernels'), profiles, 'usual');
  const other = byId('kernels-b').value || 'reference';
  fillSelect(byId('kernels-a'), profiles);
  fillSelect(byId('kernels-b'), profiles);
  byId('kernels-b').value = profiles.includes(other) ? other : profiles[0] || '';
  byId('served').textContent = `reeld ${server.version}, ${(server.workers || []).map((one) => one.device).join(', ')}`;
  showModel();
  loadRecent();
}

async function start() {
  try {
    showServer(...await Promise.all([askJson('/reel/v1/models'), askJson('/reel/v1/server')]));
  } catch (error) {
    byId('refusal').textContent = error.message;
    return;
  }
  const waits = !models.length || models.some(isComing);
  if (waits || byId('estimate').textContent === LOADING) byId('estimate').textContent = waits ? LOADING : '';
  if (waits) setTimeout(start, RETRY_MS);
  else if (byId('prompt').value) estimateSoon();
}

for (const id of FIELDS) {
  if (byId(`${id}-error`)) continue;
  const place = element('p', '', 'error');
  place.id = `${id}-error`;
  byId('field-errors').append(place);
}
byId('ask').addEventListener('input', estimateSoon);
byId('ask').addEventListener('submit', async (event) => {
  event.preventDefault();
  clearFileErrors();
  if (!await filesReady()) return;
  if (count() > 1) makeRow(spec(), count()); else make(spec());
});
byId('prompt').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey) {
    event.preventDefault();
    byId('ask').requestSubmit();
  }
});
byId('model').addEventListener('change', showModel);
byId('no-negative').addEventListener('change', showModel);
byId('dice').addEventListener('click', () => {
  byId('seed').value = Math.floor(Math.random() * 2 ** 32);
  estimateSoon();
});
byId('origin-file').addEventListener('change', (event) => { if (event.target.files[0]) takeFile(event.target.files[0]); });
byId('origin-forget').addEventListener('click', forgetOrigin);
byId('origin-clip').addEventListener('click', () => pin(originFile));
for (const [id, event] of [['preset', 'change'], ['frames', 'input']]) byId(id).addEventListener(event, knowLength);
byId('pair').addEventListener('click', comparePair);
byId('token').addEventListener('change', () => {
  token = byId('token').value.trim();
  start();
});
start();
