// SPDX-License-Identifier: Apache-2.0
// Files, where there is a disk.
import { createHash, webcrypto } from 'node:crypto';
import { basename } from 'node:path';
import { createReadStream } from 'node:fs';
import { lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { ReelError, condition, refinement, sound } from './reel.js';

globalThis.crypto ??= webcrypto; // Node 18

/** What a rename would replace: behind links the file that they lead to. */
async function targetOf(path) {
  const known = await lstat(path).catch((error) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (known === null) return path;
  const target = known.isSymbolicLink() ? await realpath(path) : path;
  if (!(await stat(target)).isFile()) throw new Error(`not a regular file: ${path}`);
  return target;
}

/** Writes a video's file, and goes on with a PATH.part that an earlier call has left. Returns what the server says of it. */
export async function download(client, name, path, { signal } = {}) {
  const target = await targetOf(path), part = `${target}.part`;
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
          await rename(part, target);
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
  const part = `${await targetOf(path)}.part`;
  await (await open(part, 'w')).close(); // before the server is asked: nothing is rendered for a file that cannot be written
  const video = await client.generate(what, options).catch(async (error) => {
    await rm(part, { force: true });
    throw error;
  });
  await download(client, video.name, path, options);
  return video;
}

// A file that is too large is not read.
const fileAt = async (path) => ({
  name: basename(path), size: (await stat(path)).size, arrayBuffer: () => readFile(path), stream: () => createReadStream(path),
});

/** Sends a file of the disk ahead of requests, as `upload` does, without holding all of it. */
export const uploadFile = async (client, path, options = {}) => client.upload(await fileAt(path), options);

/** A picture or clip of the disk that the video follows from `frameIndex` on. */
export const conditionFromFile = async (path, options = {}) => condition(await fileAt(path), options);

/** A sound of the disk that the video has. */
export const soundFromFile = async (path) => sound(await fileAt(path));

/** A clip of the disk that is refined. */
export const refinementFromFile = async (path, options = {}) => refinement(await fileAt(path), options);
