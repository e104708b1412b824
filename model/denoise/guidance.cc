// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/guidance.h"

#include <algorithm>

namespace reel::model {
namespace {

constexpr double kTinyPower = 1e-8;

// The projection of the prompt's velocity on the negative prompt's.
at::Tensor Projection(const at::Tensor& negative, const at::Tensor& positive) {
  return (positive * negative).sum() / (negative * negative).sum().add(kTinyPower);
}

// With the deviation of the prompt's row alone, as far as `rescale` says.
at::Tensor Rescaled(const at::Tensor& guided, const at::Tensor& positive, double rescale) {
  if (rescale <= 0) return guided;
  const auto deviation = [](const at::Tensor& x) { return at::std(x, {1, 2}, true, true); };
  const at::Tensor rescaled = guided * (deviation(positive) / deviation(guided));
  return rescale * rescaled + (1 - rescale) * guided;
}

}  // namespace

const GuidancePoint& Guidance::At(double sigma) const {
  for (size_t i = 0; i < from.size() && i < points.size(); ++i) {
    if (from[i] <= sigma) return points[i];
  }
  return points.back();
}

bool Guidance::uses_negative() const {
  return std::any_of(points.begin(), points.end(), [](const auto& p) { return p.uses_negative(); });
}

bool Guidance::uses_perturbed() const {
  return std::any_of(points.begin(), points.end(),
                     [](const auto& p) { return p.uses_perturbed(); });
}

int64_t Guidance::most_rows() const {
  int64_t most = 1;
  for (const GuidancePoint& point : points) most = std::max(most, point.rows());
  return most;
}

at::Tensor Guide(const at::Tensor& velocities, const GuidancePoint& point, bool star) {
  if (point.rows() == 1) return velocities;
  const int64_t prompt = point.uses_negative() ? 1 : 0;
  const at::Tensor positive = velocities.slice(0, prompt, prompt + 1);
  at::Tensor guided = positive;
  if (point.uses_negative()) {
    at::Tensor negative = velocities.slice(0, 0, 1);
    if (star) negative = negative * Projection(negative, positive);
    guided = negative + point.scale * (positive - negative);
  }
  if (point.uses_perturbed()) {
    guided = guided + point.perturbed_scale * (positive - velocities.slice(0, prompt + 1));
  }
  return Rescaled(guided, positive, point.rescale);
}

at::Tensor GuideByDeltas(const CleanLatents& clean, const DeltaGuidance& by) {
  at::Tensor guided = clean.prompt;
  const auto go_from = [&](const at::Tensor& row, double scale) {
    if (row.defined()) guided = guided + scale * (clean.prompt - row);
  };
  go_from(clean.negative, by.scale - 1);
  go_from(clean.perturbed, by.perturbed_scale);
  go_from(clean.isolated, by.isolated_scale - 1);
  return Rescaled(guided, clean.prompt, by.rescale);
}

}  // namespace reel::model
