// SPDX-License-Identifier: Apache-2.0
// The sound of a file on its way from samples to packets: as long as the pictures, and ahead of
// them, so that a file that is cut anywhere has the sound of its pictures.
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
  // Of a format that has sound.
  static absl::StatusOr<SoundTrack> Open(const VideoFormat& format);

  // All samples, the channels side by side. What is missing at the pictures' end is silence, what
  // lies beyond is left out. Without a call all is silence.
  void SetSamples(std::vector<float> interleaved) { samples_ = std::move(interleaved); }
  // The packets that the first `frames` pictures need, and a few more; each is written once.
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
  int64_t at_ = 0;  // samples of each channel that the encoder has been given
  bool flushed_ = false;
};

}  // namespace reel::worker
