// SPDX-License-Identifier: Apache-2.0
// The order of multiplications and divisions is the reference's: it decides the last bits.
#include "model/ltx2/rope.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/bridge/upload.h"

namespace reel::model::ltx2 {
namespace {

// `values` [S, n] to [S, width], with `unturned` in front of what the axes do not fill.
at::Tensor PaddedInFront(const at::Tensor& values, int64_t width, double unturned) {
  const int64_t rest = width - values.size(1);
  return at::cat({at::full({values.size(0), rest}, unturned, values.options()), values}, 1);
}

at::Tensor SplitTurned(const at::Tensor& x, const RotaryTable& table) {
  const int64_t heads = table.cos.size(1);
  const at::Tensor halves = x.unflatten(2, {heads, 2, -1}).to(at::kFloat);  // [B, S, H, 2, Dh/2]
  const at::Tensor first = halves.select(3, 0), second = halves.select(3, 1);
  at::Tensor out = halves * table.cos.unsqueeze(2);
  out.select(3, 0).addcmul_(-table.sin, second);
  out.select(3, 1).addcmul_(table.sin, first);
  return out.flatten(2).to(x.scalar_type());
}

at::Tensor InterleavedTurned(const at::Tensor& x, const RotaryTable& table) {
  const at::Tensor pairs = x.unflatten(2, {-1, 2});
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.cos + turned.to(at::kFloat) * table.sin).to(x.scalar_type());
}

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
RotaryTable MakeCrossTable(const TransformerConfig& config, const at::Tensor& seconds) {
  const double longest = std::max(config.video.seconds, config.audio.seconds);
  return MakeRotaryTable((seconds / longest).unsqueeze(0), SettingsOf(config, config.audio));
}

}  // namespace

RotaryTable RotaryTable::To(at::Device device) const {
  return {Upload(cos, device), Upload(sin, device), rotation};
}

RotaryTable MakeRotaryTable(const at::Tensor& fractions, const RopeSettings& settings) {
  const int64_t axes = fractions.size(0), width = settings.num_heads * settings.head_dim;
  const auto precision = at::TensorOptions(settings.in_double ? at::kDouble : at::kFloat);
  const at::Tensor exponents = at::linspace(0.0, 1.0, width / (2 * axes), precision);
  const at::Tensor frequencies =
      (at::pow(settings.theta, exponents) * M_PI / 2.0).to(at::kFloat);  // [K]
  const at::Tensor places = fractions.t().unsqueeze(-1);                 // [S, axes, 1]
  // Frequencies slow, axes fast.
  const at::Tensor angles = ((places * 2 - 1) * frequencies).transpose(1, 2).flatten(1);
  const auto channels = [&](const at::Tensor& values, double unturned) {
    if (settings.rotation == Rotation::kInterleaved) {
      return PaddedInFront(values.repeat_interleave(2, 1), width, unturned);
    }
    return PaddedInFront(values, width / 2, unturned).unflatten(1, {settings.num_heads, -1});
  };
  return {channels(angles.cos(), 1), channels(angles.sin(), 0), settings.rotation};
}

at::Tensor Turned(const at::Tensor& x, const RotaryTable& table) {
  return table.rotation == Rotation::kSplit ? SplitTurned(x, table) : InterleavedTurned(x, table);
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
  return {MakeRotaryTable(fractions, SettingsOf(config, config.video)),
          MakeCrossTable(config, places[0])};
}

StreamTables MakeAudioTables(const TransformerConfig& config, const at::Tensor& places) {
  return {MakeRotaryTable(places / config.audio.seconds, SettingsOf(config, config.audio)),
          MakeCrossTable(config, places[0])};
}

}  // namespace reel::model::ltx2
