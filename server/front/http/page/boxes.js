// SPDX-License-Identifier: Apache-2.0
// Reads the boxes of an MP4 file. Damaged files are safe.

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

// One box after another. `size` is what the file says; `payload` has the bytes that are there.
function* boxes(bytes) {
  const view = viewOf(bytes);
  for (let at = 0; at + 8 <= bytes.length;) {
    const short = view.getUint32(at), long = short === 1 && at + 16 <= bytes.length;
    const size = long ? Number(view.getBigUint64(at + 8)) : short || bytes.length - at;
    const head = long ? 16 : 8;
    if (size < head) return;
    yield { type: String.fromCharCode(...bytes.subarray(at + 4, at + 8)), payload: bytes.subarray(at + head, at + size), size };
    at += size;
  }
}

// The payload of the box at a path of types; empty if there is none.
function boxAt(bytes, ...path) {
  return path.reduce((inside, type) => [...boxes(inside)].find((box) => box.type === type)?.payload || new Uint8Array(), bytes);
}

const MOST_FRAGMENTS = 1000;  // that are read; more of them have the same rate
const numberAt = (bytes, at) => at + 4 <= bytes.length ? viewOf(bytes).getUint32(at) : 0;
const flagsOf = (box) => numberAt(box, 0) & 0xffffff;

// Adds the frames of a run (trun) to `sum`, each of `usual` units where the run does not say.
function addRun(run, usual, sum) {
  const has = (flag) => flagsOf(run) & flag ? 4 : 0;
  const frames = numberAt(run, 4), entry = has(0x100) + has(0x200) + has(0x400) + has(0x800);
  if (!has(0x100)) {
    sum.count += frames;
    sum.units += frames * usual;
    return;
  }
  for (let at = 8 + has(1) + has(4), left = frames; left > 0 && at + entry <= run.length; --left, at += entry) {
    ++sum.count;
    sum.units += numberAt(run, at);
  }
}

// Adds the frames of a track that are in fragments.
function addFragments(bytes, moov, track, sum) {
  const usually = [...boxes(boxAt(moov, 'mvex'))].find(({ type, payload }) => type === 'trex' && numberAt(payload, 4) === track);
  if (!usually) return;
  let fragments = 0;
  for (const moof of boxes(bytes)) {
    if (moof.type !== 'moof') continue;
    if (++fragments > MOST_FRAGMENTS) return;
    for (const { type, payload } of boxes(moof.payload)) {
      const head = boxAt(payload, 'tfhd');
      if (type !== 'traf' || numberAt(head, 4) !== track) continue;
      const at = 8 + (flagsOf(head) & 1 ? 8 : 0) + (flagsOf(head) & 2 ? 4 : 0);
      const usual = numberAt(...flagsOf(head) & 8 ? [head, at] : [usually.payload, 12]);
      for (const run of boxes(payload)) if (run.type === 'trun') addRun(run.payload, usual, sum);
    }
  }
}

// The frame rate of a clip, from its time table (stts) and its fragments; NaN if both are empty.
function rateOf(bytes) {
  const moov = boxAt(bytes, 'moov');
  for (const { type, payload } of boxes(moov)) {
    const hdlr = boxAt(payload, 'mdia', 'hdlr');
    if (type !== 'trak' || String.fromCharCode(...hdlr.subarray(8, 12)) !== 'vide') continue;
    const mdhd = boxAt(payload, 'mdia', 'mdhd'), tkhd = boxAt(payload, 'tkhd'), stts = boxAt(payload, 'mdia', 'minf', 'stbl', 'stts');
    const sum = { count: 0, units: 0 };
    for (let at = 8; at + 8 <= stts.length; at += 8) {
      sum.count += numberAt(stts, at);
      sum.units += numberAt(stts, at) * numberAt(stts, at + 4);
    }
    addFragments(bytes, moov, numberAt(tkhd, tkhd[0] ? 20 : 12), sum);
    return sum.count / sum.units * numberAt(mdhd, mdhd[0] ? 20 : 12);
  }
  return NaN;
}
