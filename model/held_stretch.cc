// SPDX-License-Identifier: Apache-2.0
#include "model/held_stretch.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace reel::model {
namespace {

// Seconds that are a frame's within this part of it are its begin.
constexpr double kSameFrame = 1e-6;

// Behind the end of every video.
constexpr double kFarthest = 1e12;

int64_t Floor(double position) {
  return static_cast<int64_t>(std::floor(std::min(position, kFarthest) + kSameFrame));
}
int64_t Ceil(double position) {
  return static_cast<int64_t>(std::ceil(std::min(position, kFarthest) - kSameFrame));
}

int64_t LatentOf(int64_t frame, int64_t frames_per_latent) {
  return (frame + frames_per_latent - 1) / frames_per_latent;
}

bool IsFrame(double seconds, int64_t frame, double frame_rate) {
  return std::abs(seconds * frame_rate - static_cast<double>(frame)) < kSameFrame;
}

}  // namespace

int DecodedFrames(const GenerationSpec& resolved, int frames_per_latent) {
  return resolved.num_frames + (resolved.is_extension() ? kContextLatents * frames_per_latent : 0);
}

Stretch RetakenLatents(const GenerationSpec& retake, int frames_per_latent) {
  const Source::Retake& asked = retake.source->retake;
  const int64_t frames = retake.num_frames;
  const int64_t first = std::clamp<int64_t>(Floor(asked.begin * retake.frame_rate), 0, frames - 1);
  const int64_t last =
      std::clamp<int64_t>(Ceil(asked.end * retake.frame_rate), first + 1, frames) - 1;
  return {LatentOf(first, frames_per_latent), LatentOf(last, frames_per_latent) + 1};
}

Stretch FramesOf(const Stretch& latents, int frames_per_latent) {
  const auto behind = [&](int64_t latent) {
    return latent == 0 ? 0 : (latent - 1) * frames_per_latent + 1;
  };
  return {behind(latents.begin), behind(latents.end)};
}

Stretch RetakenSound(const GenerationSpec& retake, int frames_per_latent, double latents_per_second,
                     int64_t count) {
  const Stretch frames = FramesOf(RetakenLatents(retake, frames_per_latent), frames_per_latent);
  const double of_a_frame = latents_per_second / retake.frame_rate;
  const int64_t begin = Floor(static_cast<double>(frames.begin) * of_a_frame);
  const int64_t end = Ceil(static_cast<double>(frames.end) * of_a_frame);
  return {std::clamp<int64_t>(begin, 0, count - 1),
          frames.end >= retake.num_frames ? count : std::clamp<int64_t>(end, begin + 1, count)};
}

std::string RetakeNotice(const GenerationSpec& resolved, int frames_per_latent) {
  if (!resolved.is_retake()) return "";
  const Source::Retake& asked = resolved.source->retake;
  const Stretch made = FramesOf(RetakenLatents(resolved, frames_per_latent), frames_per_latent);
  const double rate = resolved.frame_rate;
  if (IsFrame(asked.begin, made.begin, rate) && IsFrame(asked.end, made.end, rate)) return "";
  return absl::StrCat(
      "Only whole latent frames are made anew. Asked for were seconds ", asked.begin, " to ",
      asked.end, "; made anew are seconds ", static_cast<double>(made.begin) / rate, " to ",
      static_cast<double>(made.end) / rate, ", frames ", made.begin, " to ", made.end - 1, ".");
}

}  // namespace reel::model
