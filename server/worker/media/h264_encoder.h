// SPDX-License-Identifier: Apache-2.0
// Encodes frames to H.264 packets: x264 through libav, tuned to return each frame at once.
//
// Note: [No delay]. A frame's packet is there as soon as the frame is: no look-ahead, no B-frames,
// slices instead of frame threads. This costs a few per cent of size at equal quality; in return a
// video's first bytes leave before its later frames exist. The bytes depend on the number of
// slices, so it is a constant, not a machine's number of cores.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/worker/media/codec_encoder.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class H264Encoder {
 public:
  static absl::StatusOr<H264Encoder> Open(const VideoFormat& format);

  using PacketSink = CodecEncoder::PacketSink;
  // Encodes one I420 frame; its packet, in units of `context().time_base`, goes to `sink`.
  absl::Status Encode(absl::Span<const std::byte> i420, bool keyframe, PacketSink sink);
  // Flushes the remaining packets.
  absl::Status Flush(PacketSink sink);

  const AVCodecContext& context() const { return encoder_.context(); }
  // The codec's entry in MP4's codecs parameter, e.g. "avc1.64001f".
  std::string CodecString() const;

 private:
  explicit H264Encoder(CodecEncoder encoder) : encoder_(std::move(encoder)) {}

  CodecEncoder encoder_;
  int64_t next_pts_ = 0;
};

}  // namespace reel::worker
