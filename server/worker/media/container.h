// SPDX-License-Identifier: Apache-2.0
// Opens a media file that is in memory, its tracks and their decoders. Nothing beside its bytes is
// opened or fetched.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/pixel_cap.h"

namespace reel::worker {

struct ContainerDeleter {
  void operator()(AVFormatContext* p) const { avformat_close_input(&p); }
};
using ContainerPtr = std::unique_ptr<AVFormatContext, ContainerDeleter>;

// `demuxer` is libav's name, such as "mov". INVALID_ARGUMENT: its head cannot be read. `io` must
// outlive the container.
absl::StatusOr<ContainerPtr> OpenContainer(AVIOContext* io, const char* demuxer);

// The first track of a kind, but for cover pictures; null: there is none. No other track is read.
AVStream* ChooseTrack(AVFormatContext& container, AVMediaType kind);

// Decodes a track; `cap` bounds its pictures. With several threads it decodes as many pictures at a
// time, if the codec can: the same ones in the same order. INVALID_ARGUMENT, with the end of a
// sentence about the file: the codec cannot be set up for the track.
absl::StatusOr<AvCodecContextPtr> OpenTrackDecoder(const AVCodec& codec,
                                                   const AVCodecParameters& track,
                                                   PixelCap* cap = nullptr, int threads = 1);

}  // namespace reel::worker
