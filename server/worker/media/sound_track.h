// SPDX-License-Identifier: Apache-2.0
// Encodes a file's sound: as long as the pictures, and always ahead of them, so that a file cut
// anywhere has the sound of its pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/frame_sink.h"
#include "server/worker/media/aac_encoder.h"
#include "server/worker/media/loudness.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

// The sound of another file that comes first. Note: [Joined files] in file_begin.h.
struct SoundBefore {
  std::vector<float> samples;  // interleaved, from time 0 on; some behind the packets, too
  int packets = 0;             // that are written already
  int first_made = 0;          // the frame with which the samples begin that come
};

// Not thread-safe. Errors are INTERNAL.
class SoundTrack {
 public:
  // The format must have sound.
  static absl::StatusOr<SoundTrack> Open(const VideoFormat& format);

  // Before all else. The packets that come are those behind it, with times as if there were none.
  void Follow(SoundBefore before);

  // Adds the next samples, interleaved. After the last ones, pads with silence or cuts at the
  // pictures' end, and applies the format's loudness.
  void Add(const std::vector<float>& interleaved, bool is_last);
  // True if WriteUntil has the samples that it needs. It needs all of them if a loudness is wanted
  // or another file comes first.
  bool HasUntil(int frames) const;
  bool has_all() const { return has_all_; }
  // Writes the packets that the first `frames` pictures need, and a few more; each once.
  absl::Status WriteUntil(int frames, AacEncoder::PacketSink sink);

  // Of the samples as they are encoded.
  model::SoundStats Measure() const { return MeasureSound(format_, samples_); }
  // Its loudest sample kept the sound below the loudness that was asked for.
  bool is_limited() const { return is_limited_; }

  const AVCodecContext& context() const { return encoder_.context(); }

 private:
  SoundTrack(AacEncoder encoder, const VideoFormat& format);
  int64_t SampleAt(int frames) const;
  void Complete();
  // The other file's samples, then these.
  std::vector<float> Joined(const std::vector<float>& made) const;
  // Values of so many samples of each channel.
  size_t SizeOf(int64_t samples) const;

  AacEncoder encoder_;
  const model::SoundFormat format_;
  const double frame_rate_;
  const int64_t end_;
  const std::optional<double> loudness_;
  bool is_limited_ = false;
  std::vector<float> samples_;
  SoundBefore before_;
  int64_t begin_ = 0;  // the first sample given to the encoder
  int64_t at_ = 0;     // samples of each channel given to the encoder
  bool has_all_ = false;
  bool flushed_ = false;
};

}  // namespace reel::worker
