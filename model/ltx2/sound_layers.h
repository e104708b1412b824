// SPDX-License-Identifier: Apache-2.0
// Layers of the vocoders. Tensors are [1, C, samples], fp32.
#pragma once

#include <string>

#include "model/layers/weights.h"

namespace reel::model::ltx2 {

// A convolution over samples that keeps their number: zeros beyond both ends.
struct WaveConv {
  at::Tensor weight, bias;
  int64_t dilation = 1;

  at::Tensor operator()(const at::Tensor& x) const;
};

struct WaveConvShape {
  int64_t in = 0, out = 0, kernel = 1, dilation = 1;
  bool has_bias = true;
};
WaveConv TakeWaveConv(Weights& weights, const std::string& name, const WaveConvShape& shape);

// A transposed convolution: `factor` samples for each.
struct WaveUpsampling {
  at::Tensor weight, bias;
  int64_t factor = 1;

  at::Tensor operator()(const at::Tensor& x) const;
};
WaveUpsampling TakeWaveUpsampling(Weights& weights, const std::string& name,
                                  const WaveConvShape& shape, int64_t factor);

// x + sin^2(x e^alpha) / e^beta, made at twice the rate, so that what it adds above half the rate
// does not fold back: twelve taps up, twelve taps down.
struct Snake {
  at::Tensor alpha, beta;  // [1, C, 1]: e^alpha, and one over e^beta
  at::Tensor up, down;     // [C, 1, 12]

  // Number of samples on each side that a sample depends on.
  static constexpr int64_t kReach = 6;

  at::Tensor operator()(const at::Tensor& x) const;
};
Snake TakeSnake(Weights& weights, const std::string& name, int64_t channels);

// A wave at `ratio` times its rate, by a windowed sinc of its own; the first and the last sample
// are repeated beyond the ends.
class SincResampler {
 public:
  // Samples on each side that one depends on.
  static constexpr int64_t kReach = 7;

  SincResampler(int64_t ratio, at::Device device);

  // `piece` samples at a time: a library may take memory for each tap.
  at::Tensor operator()(const at::Tensor& wave, int64_t piece) const;

 private:
  int64_t ratio_;
  at::Tensor filter_;  // [1, 1, taps]
};

}  // namespace reel::model::ltx2
