// SPDX-License-Identifier: Apache-2.0
// Encodes a file's sound: as long as the pictures, and always ahead of them, so that a file cut
// anywhere has the sound of its pictures.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/frame_sink.h"
#include "server/worker/media/aac_encoder.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class SoundTrack {
 public:
  // The format must have sound.
  static absl::StatusOr<SoundTrack> Open(const VideoFormat& format);

  // All samples, one channel after the other. Missing samples are silence, those past the pictures'
  // end are dropped. Without this call all is silence.
  void SetSamples(std::vector<float> interleaved) { samples_ = std::move(interleaved); }
  // Writes the packets that the first `frames` pictures need, and a few more; each once.
  absl::Status WriteUntil(int frames, AacEncoder::PacketSink sink);

  const AVCodecContext& context() const { return encoder_.context(); }

 private:
  SoundTrack(AacEncoder encoder, const VideoFormat& format);
  int64_t SampleAt(int frames) const;

  AacEncoder encoder_;
  const model::SoundFormat format_;
  const double frame_rate_;
  const int64_t end_;
  std::vector<float> samples_;
  int64_t at_ = 0;  // samples of each channel given to the encoder
  bool flushed_ = false;
};

}  // namespace reel::worker
