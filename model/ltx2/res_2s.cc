// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/res_2s.h"

#include <cmath>

namespace reel::model::ltx2 {
namespace {

constexpr float kLastSigma = 0.0011f;
constexpr double kNewNoise = 0.5;  // of the noise that is left
// Where steps are short, the start is moved to where the noisy middle would come from.
constexpr double kLongestRefined = 0.5, kLeastRefinedSigma = 0.03;
constexpr int kRefinements = 100;

// The functions of exponential integrators: phi1 = (e^z - 1) / z, phi2 = (e^z - 1 - z) / z^2.
double Phi1(double z) { return (std::exp(z) - 1) / z; }
double Phi2(double z) { return (std::exp(z) - 1 - z) / (z * z); }

// Exchanges a part of y's noise for new noise, so that signal and noise stay in proportion. A step
// without noise leads from x at sigma `from` to y at `to`.
at::Tensor WithNewNoise(const at::Tensor& x, const at::Tensor& y, double from, double to,
                        const at::Tensor& noise) {
  const double added = kNewNoise * to;
  const double kept = std::sqrt(to * to - added * added);
  const double scale = 1 - to + kept;
  const at::Tensor direction = (x - y) / (from - to);
  const at::Tensor clean = x - from * direction;
  return scale * (clean + kept / scale * direction) + added * noise;
}

}  // namespace

Schedule WithoutStepToZero(Schedule schedule) {
  schedule.timesteps.push_back(kLastSigma * 1000.0f);
  schedule.sigmas.back() = kLastSigma;
  schedule.sigmas.push_back(0);
  return schedule;
}

Res2sStep::Res2sStep(double from, double to)
    : sigma(from), next(to), middle(std::sqrt(from * to)), h(std::log(from / to)) {
  to_middle = Phi1(-h / 2) / 2;
  second = 2 * Phi2(-h);
  first = Phi1(-h) - second;
}

at::Tensor StandardNoise(at::IntArrayRef sizes, at::Generator& generator) {
  const at::Tensor drawn = at::randn(sizes, generator, at::TensorOptions(at::kDouble));
  const at::Tensor whole = (drawn - drawn.mean()) / drawn.std();
  return (whole - whole.mean({1, 2}, true)) / at::std(whole, {1, 2}, true, true);
}

at::Tensor Res2sStream::Middle(const at::Tensor& noise) {
  const double weight = step_.h * step_.to_middle;
  const at::Tensor reached = anchor_ + weight * (clean_ - anchor_);
  const at::Tensor middle = WithNewNoise(anchor_, reached, step_.sigma, step_.middle, noise);
  if (step_.h < kLongestRefined && step_.sigma > kLeastRefinedSigma) {
    for (int i = 0; i < kRefinements; ++i) anchor_ = middle - weight * (clean_ - anchor_);
  }
  return middle;
}

at::Tensor Res2sStream::End(const at::Tensor& clean, const at::Tensor& noise) const {
  const at::Tensor direction =
      step_.first * (clean_ - anchor_) + step_.second * (clean.to(at::kDouble) - anchor_);
  const at::Tensor reached = anchor_ + step_.h * direction;
  return WithNewNoise(anchor_, reached, step_.sigma, step_.next, noise);
}

}  // namespace reel::model::ltx2
