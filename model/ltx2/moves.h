// SPDX-License-Identifier: Apache-2.0
// Samplers: from noisy latents and what the model takes the clean ones to be to the latents of the
// next sigma. In fp32, as the reference's schedulers have it.
#pragma once

#include "model/bridge/aten.h"

namespace reel::model::ltx2 {

enum class Sampler {
  kEuler,
  kAncestralEuler,  // takes more noise away than the step asks for, and adds new noise
  kRes2s,           // of second order, with new noise (res_2s.h)
};

// Of one step, scalars.
struct SigmaStep {
  at::Tensor sigma, next;
};

at::Tensor EulerMoved(const at::Tensor& x, const at::Tensor& clean, const SigmaStep& step);
// `noise` is of x's sizes; the last step, to 0, needs none.
at::Tensor AncestralMoved(const at::Tensor& x, const at::Tensor& clean, const SigmaStep& step,
                          const at::Tensor& noise);

}  // namespace reel::model::ltx2
