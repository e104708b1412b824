// SPDX-License-Identifier: Apache-2.0
import type {
  Adapter, Condition, CreateVideoRequest, EstimateVideoRequest, EstimateVideoResponse, GetServerInfoResponse, ListKernelsResponse, Model,
  Preview, Progress, Restarted, UploadedFile, Video, VideoSpec, VideoState,
} from './api.js';

export * from './api.js';

/** One of them is set. `media` says how far the file has grown; its bytes come from `ReelClient.media`. */
export interface ReelEvent {
  accepted?: Video;
  progress?: Progress;
  preview?: Preview;
  media?: { offset?: string; size?: string; fragmentEnd?: boolean; attempt?: number; contentType?: string };
  restarted?: Restarted;
  finished?: Video;
}

export declare class ReelError extends Error {
  /** 0: a video that failed. */
  http: number;
  code: string | number;
  /** Of proto/README.md, e.g. "INVALID_SPEC"; empty: not from Reel. */
  reason: string;
  violations: { field?: string; description?: string; reason?: string }[];
  details: Record<string, unknown>[];
  /** Seconds; NaN: not said. */
  retryAfter: number;
}

export interface CallOptions { signal?: AbortSignal }
export type CreateOptions = CallOptions & Omit<CreateVideoRequest, 'spec'>;

export declare class ReelClient {
  constructor(server?: string, options?: { token?: string; fetch?: typeof fetch; attempts?: number; resumes?: number });
  create(what: string | VideoSpec, options?: CreateOptions): Promise<Video>;
  createAll(what: string | VideoSpec, count: number, options?: Omit<CreateOptions, 'count'>): Promise<Video[]>;
  estimate(what: string | VideoSpec, options?: CallOptions & Omit<EstimateVideoRequest, 'spec'>): Promise<EstimateVideoResponse>;
  upload(file: Blob | Uint8Array | ArrayBuffer, options?: CallOptions & { onProgress?: (sent: number, size: number) => void }): Promise<UploadedFile>;
  get(name: string, options?: CallOptions): Promise<Video>;
  cancel(name: string, options?: CallOptions): Promise<Video>;
  delete(name: string, options?: CallOptions): Promise<void>;
  list(options?: CallOptions & { states?: VideoState[] }): AsyncGenerator<Video>;
  models(options?: CallOptions): Promise<Model[]>;
  kernels(options?: CallOptions): Promise<ListKernelsResponse>;
  info(options?: CallOptions): Promise<GetServerInfoResponse>;
  events(name: string, options?: CallOptions & { afterSequence?: number; previews?: boolean }): AsyncGenerator<ReelEvent>;
  media(name: string, options?: CallOptions & { offset?: number }): AsyncGenerator<Uint8Array>;
  generate(what: string | VideoSpec, options?: CreateOptions & { onEvent?: (event: ReelEvent) => void }): Promise<Video>;
  blob(name: string, options?: CallOptions): Promise<Blob>;
}

/** Of a File, a Blob or bytes; above 1 MiB the call that gets it sends it ahead. RangeError: larger than any server takes. */
export declare function condition(file: Blob | Uint8Array | ArrayBuffer, options?: { frameIndex?: number; strength?: number }): Promise<Condition>;
/** Of a WAV, FLAC, MP3 or MP4. RangeError: as for `condition`. */
export declare function sound(file: Blob | Uint8Array | ArrayBuffer): Promise<Condition>;
/** Of an MP4. RangeError: as for `condition`. */
export declare function refinement(file: Blob | Uint8Array | ArrayBuffer, options?: Omit<VideoSpec, 'source'> & { strength?: number }): Promise<VideoSpec>;
export declare function adapter(name: string, scale?: number, options?: { partScales?: Record<string, number>; passScales?: number[] }): Adapter;
export declare function promotion(video: string | Video, options?: { keepState?: boolean }): VideoSpec;
export declare function extension(video: string | Video, numFrames: number, options?: Omit<VideoSpec, 'source'> & { overlapFrames?: number }): VideoSpec;
export declare function retake(video: string | Video, begin: number, end: number,
  options?: Omit<VideoSpec, 'source'> & { keepPictures?: boolean; keepSound?: boolean }): VideoSpec;
