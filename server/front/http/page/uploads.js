// SPDX-License-Identifier: Apache-2.0
// Files that are too large for a request: sent ahead of it, while one types.

const SENT_AHEAD = 1048576;  // bytes of a file from which on it is, as `reel` does it
const TOLD_PERCENT = 10;     // apart: each is read aloud

// Whether a file is sent ahead, and how much it and those that go the same way may have together. 64-bit numbers are texts.
function roomFor(file, others) {
  const inside = Number(limits.maxConditionBytes);
  const together = (ahead) => others.reduce((sum, one) => sum + (Boolean(one.ahead) === ahead ? one.size : 0), file.size);
  const ahead = Number(limits.maxFileBytes) > 0 && (file.size > SENT_AHEAD || together(false) > inside);
  return { ahead, most: ahead ? Number(limits.maxFileBytes) : inside, size: together(ahead) };
}

// XMLHttpRequest, since fetch does not tell how far it is. Nothing comes of one that is given up.
function upload(one) {
  return new Promise((done, refuse) => {
    const request = one.upload = new XMLHttpRequest();
    request.open('POST', '/reel/v1/files');
    if (token) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded }) => {
      one.percent = TOLD_PERCENT * Math.floor(100 / TOLD_PERCENT * loaded / one.size);
      showPlace(one);
    };
    request.onload = () => request.status === 200 ? done(request.response.file) : refuse(refusalOf(request.status, request.response));
    request.onerror = () => refuse(new Error('the connection broke, or the file was changed'));
    request.onabort = () => done(null);
    request.send(one.file);
  });
}

// What failed, or was sent a day ago, is sent again.
function sendAhead(one) {
  const end = (result) => {
    Object.assign(one, result, { sending: null });
    showPlace(one);
  };
  Object.assign(one, { percent: 0, problem: '', sent: null });
  one.sending = upload(one).then((sent) => end({ sent }), (error) => end({ problem: error.message }));
  showPlace(one);
  return one.sending;
}

const isThere = (one) => !one.ahead || new Date(one.sent?.expireTime || 0) > Date.now();

function uploadText(one) {
  if (one.problem) return `${one.name}: ${one.problem}. It is sent again with the request.`;
  return one.sending ? `sending it ahead, ${one.percent} %` : '';
}

// Where an error is of a file that the server no longer has, shows it there; the next request sends it again. False: of no file.
function showMissingFile(error) {
  const one = pins.find(({ sent }) => sent && error.message.includes(sent.name));
  if (!one) return false;
  Object.assign(one, { sent: null, problem: 'the server no longer has it' });
  showPlace(one);
  return true;
}

// An MP4 is a clip, unless it is said to be a sound.
const nameOf = (one) => ({ file: one.sent.name, ...one.kind === 'audio' && one.sent.contentType.startsWith('video/') ? { contentType: 'audio/mp4' } : {} });

// Waits for the files of a request, without those that are taken away meanwhile. False: one could not be sent, and says why.
async function filesReady() {
  if (!pins.length) return true;
  byId('make').disabled = true;
  await knowLength();
  await Promise.all(pins.filter((one) => isTaken(one) && !isThere(one)).map((one) => one.sending || sendAhead(one)));
  byId('make').disabled = false;
  return pins.filter(isTaken).every(isThere);
}
