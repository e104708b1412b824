// SPDX-License-Identifier: Apache-2.0
// The order of operations is the reference's.
#include "model/ltx2/moves.h"

namespace reel::model::ltx2 {
namespace {

constexpr double kTinyAlpha = 1e-12;

at::Tensor VelocityTo(const at::Tensor& clean, const at::Tensor& x, const at::Tensor& sigma) {
  return (x - clean) / sigma;
}

}  // namespace

at::Tensor EulerMoved(const at::Tensor& x, const at::Tensor& clean, const SigmaStep& step) {
  return x + (step.next - step.sigma) * VelocityTo(clean, x, step.sigma);
}

// Down to sigma * (next / sigma)^2, then up again to `next` by new noise: the share of clean
// latents is 1 - sigma everywhere.
at::Tensor AncestralMoved(const at::Tensor& x, const at::Tensor& clean, const SigmaStep& step,
                          const at::Tensor& noise) {
  const auto& [sigma, next] = step;
  const at::Tensor denoised = x - sigma * VelocityTo(clean, x, sigma);
  if (!noise.defined()) return denoised;
  const at::Tensor down = next * (1.0 + (next / sigma - 1.0));
  const at::Tensor share = 1.0 - next, share_down = 1.0 - down, ratio = down / sigma;
  const at::Tensor moved = ratio * x + (1.0 - ratio) * denoised;
  const at::Tensor left = down.pow(2) * share.pow(2) / (share_down.pow(2) + kTinyAlpha);
  const at::Tensor added = (next.pow(2) - left).clamp_min(0).sqrt();
  return share / (share_down + kTinyAlpha) * moved + noise * added;
}

}  // namespace reel::model::ltx2
