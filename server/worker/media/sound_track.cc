// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/sound_track.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/base/status_macros.h"

namespace reel::worker {
namespace {

// The sound written ahead of the pictures. Players that cut a file at a fragment's end need the
// sound of its last picture, and the first fragment, of one picture, needs the packets for the edit
// list. At 24 kHz a packet lasts as long as a picture.
constexpr int64_t kAhead = 3 * int64_t{AacEncoder::kFrameSamples};
static_assert(kAhead + AacEncoder::kFrameSamples <= model::kSoundAhead);

// So many packets before those that are written let the encoder see what came before.
constexpr int64_t kLeadIn = 4;

}  // namespace

absl::StatusOr<SoundTrack> SoundTrack::Open(const VideoFormat& format) {
  REEL_ASSIGN_OR_RETURN(AacEncoder encoder, AacEncoder::Open(format.sound));
  return SoundTrack(std::move(encoder), format);
}

SoundTrack::SoundTrack(AacEncoder encoder, const VideoFormat& format)
    : encoder_(std::move(encoder)),
      format_(format.sound),
      frame_rate_(format.frame_rate),
      end_(SampleAt(format.num_frames)),
      loudness_(format.loudness) {}

size_t SoundTrack::SizeOf(int64_t samples) const {
  return static_cast<size_t>(samples) * static_cast<size_t>(format_.channels);
}

void SoundTrack::Add(const std::vector<float>& interleaved, bool is_last) {
  samples_.insert(samples_.end(), interleaved.begin(), interleaved.end());
  if (is_last) Complete();
}

void SoundTrack::Complete() {
  has_all_ = true;
  if (before_.packets > 0) samples_ = Joined(samples_);
  samples_.resize(SizeOf(end_), 0.0F);
  if (!loudness_) return;
  const model::SoundStats measured = Measure();
  const LevelChange change = ChangeTo(*loudness_, measured);
  is_limited_ = change.is_limited;
  for (float& sample : samples_) sample *= change.gain;
}

bool SoundTrack::HasUntil(int frames) const {
  if (has_all_ || loudness_ || before_.packets > 0) return has_all_;
  const int64_t until = SampleAt(frames) + kAhead + AacEncoder::kFrameSamples;
  return until < end_ && samples_.size() >= SizeOf(until);
}

void SoundTrack::Follow(SoundBefore before) {
  before_ = std::move(before);
  at_ = begin_ = std::max<int64_t>(before_.packets - kLeadIn, 0) * AacEncoder::kFrameSamples;
}

std::vector<float> SoundTrack::Joined(const std::vector<float>& made) const {
  // The last packet that is written is heard together with the next one.
  const size_t seam = SizeOf(before_.packets * int64_t{AacEncoder::kFrameSamples});
  const size_t blend = SizeOf(AacEncoder::kFrameSamples);
  const size_t first = SizeOf(SampleAt(before_.first_made));
  std::vector<float> joined = before_.samples;
  joined.resize(SizeOf(end_), 0.0F);
  for (size_t i = seam; i < joined.size(); ++i) {
    const float next = i < first || i - first >= made.size() ? 0.0F : made[i - first];
    const size_t in_blend = std::min(i - seam, blend);
    const float share = static_cast<float>(in_blend) / static_cast<float>(blend);
    joined[i] += share * (next - joined[i]);
  }
  return joined;
}

int64_t SoundTrack::SampleAt(int frames) const {
  return std::llround(frames * static_cast<double>(format_.sample_rate) / frame_rate_);
}

absl::Status SoundTrack::WriteUntil(int frames, AacEncoder::PacketSink sink) {
  const int64_t until = std::min(end_, SampleAt(frames) + kAhead);
  const int64_t left_out = before_.packets * int64_t{AacEncoder::kFrameSamples} - begin_;
  const auto write = [&](AVPacket& packet) -> absl::Status {
    if (packet.pts + AacEncoder::kFrameSamples < left_out) return absl::OkStatus();
    packet.pts -= left_out;
    packet.dts -= left_out;
    return sink(packet);
  };
  while (at_ < until) {
    const int64_t count = std::min<int64_t>(AacEncoder::kFrameSamples, end_ - at_);
    const auto piece = absl::MakeConstSpan(samples_).subspan(SizeOf(at_), SizeOf(count));
    REEL_RETURN_IF_ERROR(encoder_.Encode(piece, write));
    at_ += count;
  }
  if (at_ < end_ || std::exchange(flushed_, true)) return absl::OkStatus();
  return encoder_.Flush(write);
}

}  // namespace reel::worker
