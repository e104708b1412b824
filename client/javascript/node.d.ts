// SPDX-License-Identifier: Apache-2.0
import type { CallOptions, Condition, CreateOptions, MediaInfo, ReelClient, ReelEvent, UploadedFile, Video, VideoSpec } from './reel.js';

export declare function download(client: ReelClient, name: string, path: string, options?: CallOptions): Promise<MediaInfo>;
export declare function save(client: ReelClient, what: string | VideoSpec, path: string,
  options?: CreateOptions & { onEvent?: (event: ReelEvent) => void }): Promise<Video>;
export declare function conditionFromFile(path: string, options?: { frameIndex?: number; strength?: number }): Promise<Condition>;
export declare function soundFromFile(path: string): Promise<Condition>;
export declare function uploadFile(client: ReelClient, path: string,
  options?: CallOptions & { onProgress?: (sent: number, size: number) => void }): Promise<UploadedFile>;
export declare function refinementFromFile(path: string, options?: Omit<VideoSpec, 'source'> & { strength?: number }): Promise<VideoSpec>;
