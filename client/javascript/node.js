// SPDX-License-Identifier: Apache-2.0
// Files, where there is a disk.
import { createHash, webcrypto } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { ReelError } from './reel.js';

globalThis.crypto ??= webcrypto; // Node 18

/** Writes a video's file, and goes on with a PATH.part that an earlier call has left. Returns what the server says of it. */
export async function download(client, name, path, { signal } = {}) {
  const part = `${path}.part`;
  for (let fresh = false; ; fresh = true) {
    const file = await open(part, fresh ? 'w+' : 'a+');
    try {
      let hash = createHash('sha256'), size = 0;
      for await (const piece of file.createReadStream({ start: 0, autoClose: false })) {
        hash.update(piece);
        size += piece.length;
      }
      const resumed = size > 0, { media: known } = await client.get(name, { signal });
      const tooLong = resumed && Number(known?.sizeBytes ?? 0) > 0 && size > Number(known.sizeBytes);
      if (!tooLong) {
        for await (const piece of client.media(name, { offset: size, signal })) {
          await file.appendFile(piece);
          hash.update(piece);
        }
        await file.sync();
        const { media } = await client.get(name, { signal });
        if (hash.digest('hex') === media.sha256) {
          await rename(part, path);
          return media;
        }
      }
      if (!resumed) {
        await rm(part);
        throw new ReelError({ status: 'DATA_LOSS', message: 'the received file has the wrong SHA-256' });
      }
    } finally {
      await file.close();
    }
  }
}

/** Renders into a file. */
export async function save(client, what, path, options = {}) {
  const video = await client.generate(what, options);
  await rm(`${path}.part`, { force: true });
  await download(client, video.name, path, options);
  return video;
}
