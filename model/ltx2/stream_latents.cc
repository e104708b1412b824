// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/stream_latents.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/bridge/random.h"

namespace reel::model::ltx2 {
namespace {

// Whatever the rounding mode of the process is.
double RoundedHalfToEven(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

}  // namespace

absl::StatusOr<int64_t> AudioLatents(const TransformerConfig& config, int64_t frames,
                                     double frame_rate) {
  const double seconds = static_cast<double>(frames) / frame_rate;
  const auto latents =
      static_cast<int64_t>(RoundedHalfToEven(seconds * config.latents_per_second()));
  if (latents > 0) return latents;
  return absl::InvalidArgumentError(
      absl::StrCat("the video is too short for sound: ", frames, " frames at ", frame_rate,
                   " a second; sound needs more than ", 0.5 / config.latents_per_second(), " s"));
}

at::Tensor PackAudio(const at::Tensor& grid) { return grid.transpose(1, 2).flatten(2); }

at::Tensor UnpackAudio(const at::Tensor& tokens, int64_t mel_bins) {
  return tokens.unflatten(2, {-1, mel_bins}).transpose(1, 2).contiguous();
}

StreamTokens DrawNoise(const LatentSizes& sizes, at::Generator& generator, at::Device device) {
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  const LatentShape& shape = sizes.video;
  const at::Tensor video = DrawNormal(
      {1, sizes.video_channels, shape.frames, shape.height, shape.width}, generator, options);
  const at::Tensor audio =
      DrawNormal({1, sizes.audio_channels, sizes.audio, sizes.mel_bins}, generator, options);
  return {PackLatents(video), PackAudio(audio)};
}

StreamTokens DrawTokenNoise(const LatentSizes& sizes, int64_t video_tokens,
                            at::Generator& generator, at::Device device) {
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  const at::Tensor video = DrawNormal({1, video_tokens, sizes.video_channels}, generator, options);
  return {video,
          DrawNormal({1, sizes.audio, sizes.audio_channels * sizes.mel_bins}, generator, options)};
}

}  // namespace reel::model::ltx2
