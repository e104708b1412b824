// SPDX-License-Identifier: Apache-2.0
// The order of multiplications and divisions is the reference's: it decides the last bits.
#include "model/ltx2/rope.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace reel::model::ltx2 {
namespace {

// Where tokens begin, the first of them `first`, in pixels, pictures or spectra, `scale` a token.
at::Tensor Starts(int64_t count, int64_t first, int64_t scale) {
  return at::arange(first, count + first, at::TensorOptions(at::kFloat)) *
         static_cast<double>(scale);
}

// In time the first token has `offset` pictures or spectra alone.
at::Tensor Causal(const at::Tensor& units, int64_t offset, int64_t scale) {
  return (units + static_cast<double>(offset) - static_cast<double>(scale)).clamp_min(0);
}
at::Tensor Middle(const at::Tensor& start, const at::Tensor& end) { return (start + end) / 2.0; }

// Of tokens whose frames are at `seconds`.
at::Tensor PicturePlaces(const TransformerConfig& config, const LatentShape& shape,
                         const at::Tensor& seconds) {
  const auto pixels = [](int64_t count, int64_t scale) {
    return Middle(Starts(count, 0, scale), Starts(count, 1, scale));
  };
  const std::vector<at::Tensor> axes =
      at::meshgrid({seconds, pixels(shape.height, config.pixels_per_latent[1]),
                    pixels(shape.width, config.pixels_per_latent[2])},
                   "ij");
  return at::stack({axes[0].flatten(), axes[1].flatten(), axes[2].flatten()});
}

RopeSettings SettingsOf(const TransformerConfig& config, const StreamConfig& stream) {
  return {.rotation = config.rotation,
          .num_heads = stream.num_heads,
          .head_dim = stream.head_dim,
          .theta = config.rope_theta,
          .in_double = config.double_rope};
}

// Between the streams heads are as wide as the sound's.
RopeTable MakeCrossTable(const TransformerConfig& config, const at::Tensor& seconds) {
  const double longest = std::max(config.video.seconds, config.audio.seconds);
  return MakeRopeTable((seconds / longest).unsqueeze(0), SettingsOf(config, config.audio));
}

}  // namespace

RopeTable MakeRopeTable(const at::Tensor& fractions, const RopeSettings& settings) {
  const int64_t axes = fractions.size(0), width = settings.num_heads * settings.head_dim;
  const auto precision = at::TensorOptions(settings.in_double ? at::kDouble : at::kFloat);
  const at::Tensor exponents = at::linspace(0.0, 1.0, width / (2 * axes), precision);
  const at::Tensor frequencies =
      (at::pow(settings.theta, exponents) * M_PI / 2.0).to(at::kFloat);  // [K]
  std::vector<at::Tensor> rows, indices;
  int64_t first = 0;
  for (const at::Tensor& axis : fractions.unbind(0)) {
    const auto [places, index] = at::_unique(axis, true, true);
    const at::Tensor angles = (places.unsqueeze(-1) * 2 - 1) * frequencies;  // [R, K]
    rows.push_back(at::stack({angles.cos(), angles.sin()}, -1));
    indices.push_back(index + first);
    first += places.size(0);
  }
  return {at::cat(rows), at::stack(indices, -1).to(at::kInt).unsqueeze(0), width,
          settings.rotation == Rotation::kSplit ? settings.head_dim : 0};
}

at::Tensor VideoPlaces(const TransformerConfig& config, const LatentShape& shape,
                       double frame_rate) {
  const int64_t frames = config.pixels_per_latent[0];
  const auto seconds = [&](int64_t first) {
    const at::Tensor units = Starts(shape.frames, first, frames);
    return Causal(units, config.causal_offset, frames) / frame_rate;
  };
  return PicturePlaces(config, shape, Middle(seconds(0), seconds(1)));
}

at::Tensor InsidePlaces(const TransformerConfig& config, const LatentShape& shape,
                        double frame_rate, int64_t first, bool is_picture) {
  const int64_t frames = config.pixels_per_latent[0];
  const at::Tensor start = Starts(shape.frames, 0, frames) + static_cast<double>(first);
  const at::Tensor end = start + static_cast<double>(is_picture ? 1 : frames);
  return PicturePlaces(config, shape, Middle(start / frame_rate, end / frame_rate));
}

at::Tensor ReferencePlaces(const TransformerConfig& config, const LatentShape& shape,
                           double frame_rate, const ReferenceScale& scale) {
  const int64_t frames = config.pixels_per_latent[0];
  const double rate = frame_rate / scale.frames, skipped = (scale.frames - 1) / frame_rate;
  const auto seconds = [&](int64_t first) {
    const at::Tensor units = Starts(shape.frames, first, frames);
    return (Causal(units, config.causal_offset, frames) / rate - skipped).clamp_min(0);
  };
  at::Tensor places = PicturePlaces(config, shape, Middle(seconds(0), seconds(1)));
  places.slice(0, 1).mul_(scale.sides);  // rows and columns
  return places;
}

at::Tensor AudioPlaces(const TransformerConfig& config, int64_t latents) {
  const int64_t scale = config.spectra_per_latent;
  const auto seconds = [&](int64_t first) {
    const at::Tensor spectra = Causal(Starts(latents, first, scale), config.causal_offset, scale);
    return spectra * config.hop_length / config.sampling_rate;
  };
  return Middle(seconds(0), seconds(1)).unsqueeze(0);
}

StreamTables MakeVideoTables(const TransformerConfig& config, const at::Tensor& places) {
  const at::Tensor fractions =
      at::stack({places[0] / config.video.seconds, places[1] / config.base_height,
                 places[2] / config.base_width});
  return {MakeRopeTable(fractions, SettingsOf(config, config.video)),
          MakeCrossTable(config, places[0])};
}

StreamTables MakeAudioTables(const TransformerConfig& config, const at::Tensor& places) {
  return {MakeRopeTable(places / config.audio.seconds, SettingsOf(config, config.audio)),
          MakeCrossTable(config, places[0])};
}

}  // namespace reel::model::ltx2
