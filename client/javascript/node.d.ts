// SPDX-License-Identifier: Apache-2.0
import type { CallOptions, CreateOptions, MediaInfo, ReelClient, ReelEvent, Video, VideoSpec } from './reel.js';

export declare function download(client: ReelClient, name: string, path: string, options?: CallOptions): Promise<MediaInfo>;
export declare function save(client: ReelClient, what: string | VideoSpec, path: string,
  options?: CreateOptions & { onEvent?: (event: ReelEvent) => void }): Promise<Video>;
