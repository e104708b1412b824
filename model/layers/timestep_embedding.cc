// SPDX-License-Identifier: Apache-2.0
#include "model/layers/timestep_embedding.h"

#include <cmath>

namespace reel::model {
namespace {

constexpr int64_t kSinusoidWidth = 256;

}  // namespace

at::Tensor TimestepSinusoid(const at::Tensor& t) {
  const int64_t half = kSinusoidWidth / 2;
  const at::Tensor exponent =
      -std::log(10000.0) * at::arange(half, t.options().dtype(at::kFloat)) / half;
  const at::Tensor angle = t.to(at::kFloat).unsqueeze(1) * exponent.exp().unsqueeze(0);
  return at::cat({angle.cos(), angle.sin()}, -1);
}

at::Tensor TimestepEmbedding::operator()(const Ops& ops, const at::Tensor& t) const {
  const at::Tensor sinusoid = TimestepSinusoid(t).to(linear_1.weight.scalar_type());
  return linear_2(ops, at::silu(linear_1(ops, sinusoid)));
}

TimestepEmbedding TakeTimestepEmbedding(Weights& weights, const std::string& name, int64_t width) {
  const std::string embedder = name + ".timestep_embedder.";
  return {TakeLinear(weights, embedder + "linear_1", kSinusoidWidth, width),
          TakeLinear(weights, embedder + "linear_2", width, width)};
}

}  // namespace reel::model
