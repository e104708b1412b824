// SPDX-License-Identifier: Apache-2.0
// Tables, and a request as a command for others to run.

const number = (text) => ({ number: text });
function table(heads, rows) {
  const made = element('table');
  const head = element('tr');
  for (const text of heads) head.append(element('th', text));
  made.append(head);
  for (const row of rows) {
    const line = element('tr');
    for (const cell of row) {
      const place = element('td', cell.number !== undefined ? cell.number : cell instanceof Node ? undefined : cell,
        cell.number !== undefined ? 'number' : cell instanceof Node ? 'bar' : '');
      if (cell instanceof Node) place.append(cell);
      line.append(place);
    }
    made.append(line);
  }
  const box = element('div', undefined, 'table');
  box.append(made);
  return box;
}

const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;
// Bytes of files are left out. An uploaded file has a name, which the server knows for a day.
const kindIn = (one) => ['image', 'video', 'audio', 'file'].find((kind) => one[kind]);
const named = (one) => one.file ? one : { ...one, [kindIn(one) || 'image']: `BASE64 OF ${pinsSent.get(one)?.name || 'THE FILE'}` };
const asCurl = (sent) => `curl -s ${quoted(`${location.origin}/reel/v1/videos`)} -H 'Content-Type: application/json'` +
  `${token ? " -H \"Authorization: Bearer $TOKEN\"" : ''} -d ${quoted(JSON.stringify({ spec: { ...sent, conditions: sent.conditions?.map(named), preview: undefined } }))}`;
function asReel(sent) {
  const { promote, extend, retake, video } = sent.source || {};
  if (promote) return `reel promote ${quoted(video)} -o video.mp4${sent.keepState ? ' --keep-state' : ''}`;
  const refined = (sent.conditions || []).find((one) => one.use === REFINE);
  const words = extend || retake ? [`reel ${extend ? 'extend' : 'retake'} ${quoted(video)}`, quoted(sent.prompt || ''), '-o video.mp4']
    : refined ? [`reel refine ${quoted(pinsSent.get(refined)?.name || 'FILE')}`, quoted(sent.prompt), '-o video.mp4']
      : ['reel generate', quoted(sent.prompt), '-o video.mp4'];
  const put = (flag, value) => { if (value !== undefined && value !== '') words.push(`--${flag} ${quoted(String(value))}`); };
  if (sent.keepState) words.push('--keep-state');
  if (extend || retake) {
    put('frames', extend?.numFrames);
    put('overlap', extend?.overlapFrames);
    put('from', retake && seconds(retake.begin));
    put('to', retake && seconds(retake.end));
    if (retake?.keepPictures) words.push('--keep-pictures');
    if (retake?.keepSound) words.push('--keep-sound');
    put('preset', sent.preset);
    put('steps', sent.numInferenceSteps);
    put('seed', sent.seed);
    return words.join(' ');
  }
  put('model', sent.model);
  put('preset', sent.preset);
  put('width', sent.width);
  put('height', sent.height);
  put('frames', sent.numFrames);
  put('fps', sent.frameRate);
  put('steps', sent.numInferenceSteps);
  put('seed', sent.seed);
  if (sent.negativePrompt === '') words.push("--negative-prompt ''");
  put('negative-prompt', sent.negativePrompt);
  put('guidance', sent.guidanceScale);
  put('denoise-strength', sent.denoiseStrength);
  put('kernels', sent.kernels && sent.kernels.profile);
  put('crf', sent.encoding && sent.encoding.crf);
  for (const one of sent.adapters || []) put('adapter', adapterWord(one));
  if (sent.sound === false) words.push('--no-sound');
  for (const one of sent.conditions || []) {
    if (one === refined) continue;
    const { name: file = 'FILE', kind = kindIn(one) } = pinsSent.get(one) || {};
    if (one.use === 'CONDITION_USE_REFERENCE') put('reference', one.strength === undefined ? file : `${file}:${one.strength}`);
    else words.push(kind === 'audio' ? `--sound ${quoted(file)}` : `--condition ${quoted(`${file}@${one.frameIndex || 0}`)}`);
  }
  if (sent.stopAfterPass) words.push('--draft');
  return words.join(' ');
}
async function copy(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch (refused) {
    prompt('Copy this', text);
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}
