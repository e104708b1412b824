// SPDX-License-Identifier: Apache-2.0
// Uploads files that are too large for a request, before it is sent.

const SENT_AHEAD = 1048576;  // bytes; larger files are uploaded, as by `reel`
const TOLD_PERCENT = 10;     // between two messages, since each is read aloud

// Whether a file is uploaded, and the size and limit of all files that go the same way. JSON has 64-bit numbers as strings.
function roomFor(file, others) {
  const inside = Number(limits.maxConditionBytes);
  const together = (ahead) => others.reduce((sum, one) => sum + (Boolean(one.ahead) === ahead ? one.size : 0), file.size);
  const ahead = Number(limits.maxFileBytes) > 0 && (file.size > SENT_AHEAD || together(false) > inside);
  return { ahead, most: ahead ? Number(limits.maxFileBytes) : inside, size: together(ahead) };
}

// Uses XMLHttpRequest, because fetch reports no progress of uploads. Null if it was aborted.
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

// Starts an upload; also used again after one that failed or has expired.
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

// Shows at its file that the server no longer has it; the next request uploads it again. False if the error is not about a file.
function showMissingFile(error) {
  const one = pins.find(({ sent }) => sent && error.message.includes(sent.name));
  if (!one) return false;
  Object.assign(one, { sent: null, problem: 'the server no longer has it' });
  showPlace(one);
  return true;
}

// An uploaded MP4 is a clip unless its content type says audio.
const nameOf = (one) => ({ file: one.sent.name, ...one.kind === 'audio' && one.sent.contentType.startsWith('video/') ? { contentType: 'audio/mp4' } : {} });

// Waits for the uploads of a request; files removed meanwhile do not count. False if one failed, which its row explains.
async function filesReady() {
  if (!pins.length) return true;
  byId('make').disabled = true;
  await knowLength();
  await Promise.all(pins.filter((one) => isTaken(one) && !isThere(one)).map((one) => one.sending || sendAhead(one)));
  byId('make').disabled = false;
  return pins.filter(isTaken).every(isThere);
}
