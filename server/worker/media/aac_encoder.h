// SPDX-License-Identifier: Apache-2.0
// Encodes samples to AAC packets with libav's own encoder.
//
// Note: [Sound in step]. The encoder's first packet is 1024 samples of silence, which its decoder
// needs and an edit list hides: times start at -1024. The muxer writes that list only if the first
// packet of sound is there before the first fragment is cut.
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
  static constexpr int kFrameSamples = 1024;  // samples of a packet, in each channel

  static absl::StatusOr<AacEncoder> Open(const model::SoundFormat& format);

  using PacketSink = CodecEncoder::PacketSink;
  // The next samples, kFrameSamples of each channel, one channel after the other; only the last
  // call may have fewer. Packets go to `sink`, with times in samples.
  absl::Status Encode(absl::Span<const float> interleaved, PacketSink sink);
  // Flushes the remaining packets.
  absl::Status Flush(PacketSink sink) { return encoder_.Flush(sink); }

  const AVCodecContext& context() const { return encoder_.context(); }
  // The codec's entry in MP4's codecs parameter.
  static std::string CodecString() { return "mp4a.40.2"; }

 private:
  explicit AacEncoder(CodecEncoder encoder) : encoder_(std::move(encoder)) {}

  CodecEncoder encoder_;
  int64_t next_pts_ = 0;
};

}  // namespace reel::worker
