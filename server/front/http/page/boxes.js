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

// The frame rate of a clip, from its time table (stts); NaN if it has none, as fragmented files.
function rateOf(bytes) {
  const moov = boxAt(bytes, 'moov');
  for (const { type, payload } of boxes(moov)) {
    const hdlr = boxAt(payload, 'mdia', 'hdlr');
    if (type !== 'trak' || String.fromCharCode(...hdlr.subarray(8, 12)) !== 'vide') continue;
    const mdhd = boxAt(payload, 'mdia', 'mdhd'), stts = boxAt(payload, 'mdia', 'minf', 'stbl', 'stts');
    let count = 0, units = 0;
    for (let at = 8; at + 8 <= stts.length; at += 8) {
      count += viewOf(stts).getUint32(at);
      units += viewOf(stts).getUint32(at) * viewOf(stts).getUint32(at + 4);
    }
    return mdhd.length < 24 ? NaN : count / units * viewOf(mdhd).getUint32(mdhd[0] ? 20 : 12);
  }
  return NaN;
}
