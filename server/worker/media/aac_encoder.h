// SPDX-License-Identifier: Apache-2.0
// Samples to AAC packets, by libav's own encoder.
//
// Note: [Sound in step]. The encoder's first packet holds 1024 samples of nothing, which its
// decoder needs and which an edit list hides: times count from -1024. The muxer writes that list
// only if the first packet of sound is there before the first fragment is cut.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/frame_sink.h"
#include "server/worker/media/codec_encoder.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class AacEncoder {
 public:
  static constexpr int kFrameSamples = 1024;  // of a packet, in each channel

  static absl::StatusOr<AacEncoder> Open(const model::SoundFormat& format);

  using PacketSink = CodecEncoder::PacketSink;
  // The next samples, kFrameSamples of each channel, the channels side by side; fewer at the end
  // alone. Packets go to `sink`, with times in samples.
  absl::Status Encode(absl::Span<const float> interleaved, PacketSink sink);
  // The packets that are left.
  absl::Status Flush(PacketSink sink) { return encoder_.Flush(sink); }

  const AVCodecContext& context() const { return encoder_.context(); }
  // As in MP4's codecs parameter.
  static std::string CodecString() { return "mp4a.40.2"; }

 private:
  explicit AacEncoder(CodecEncoder encoder) : encoder_(std::move(encoder)) {}

  CodecEncoder encoder_;
  int64_t next_pts_ = 0;
};

}  // namespace reel::worker
