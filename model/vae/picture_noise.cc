// SPDX-License-Identifier: Apache-2.0
#include "model/vae/picture_noise.h"

#include <algorithm>
#include <utility>

namespace reel::model {
namespace {

// About 0.1 s. libtorch draws sixteen at a time, so parts of such a size give the numbers of the
// whole; a clip has a multiple of sixteen.
constexpr int64_t kDrawnAtOnce = int64_t{1} << 21;

}  // namespace

PictureNoise PictureNoise::OfClip(const std::vector<int64_t>& sizes, at::ScalarType dtype,
                                  const at::Generator& generator) {
  PictureNoise noise(at::empty(sizes, at::TensorOptions(dtype)));
  noise.generator_ = generator.clone();
  noise.drawn_ = 0;
  return noise;
}

PictureNoise PictureNoise::ByFrame(const std::vector<int64_t>& sizes, at::ScalarType dtype,
                                   const at::Generator& generator) {
  std::vector<int64_t> of_a_frame = sizes;
  of_a_frame[2] = 1;
  PictureNoise noise(at::empty(of_a_frame, at::TensorOptions(dtype)));
  noise.generator_ = generator.clone();
  noise.by_frame_ = true;
  return noise;
}

bool PictureNoise::Prepare() {
  if (drawn_ == values_.numel()) return true;
  const int64_t end = std::min(drawn_ + kDrawnAtOnce, values_.numel());
  at::Tensor part = values_.view({-1}).slice(0, drawn_, end);
  part.normal_(0, 1, generator_);
  drawn_ = end;
  return drawn_ == values_.numel();
}

at::Tensor PictureNoise::Take(int64_t frames) {
  const int64_t first = std::exchange(taken_, taken_ + frames);
  if (!by_frame_) return values_.narrow(2, first, frames);
  std::vector<at::Tensor> drawn;
  for (int64_t i = 0; i < frames; ++i) {
    drawn.push_back(at::randn(values_.sizes(), generator_, values_.options()));
  }
  return at::cat(drawn, 2);
}

}  // namespace reel::model
