// SPDX-License-Identifier: Apache-2.0
// The sampler res_2s: a second-order exponential Runge-Kutta step, with new noise behind each of
// its halves. In fp64.
#pragma once

#include "model/bridge/aten.h"
#include "model/sampler/schedule.h"

namespace reel::model::ltx2 {

// `schedule` with a small sigma before its 0, because a step to 0 has no logarithm: from there the
// clean latents are taken as they are.
Schedule WithoutStepToZero(Schedule schedule);

// The numbers of a step between two sigmas above 0.
struct Res2sStep {
  double sigma = 0, next = 0;
  double middle = 0;     // the sigma of the second call of the model
  double h = 0;          // ln(sigma / next)
  double to_middle = 0;  // weight of the first call's direction on the way to the middle
  double first = 0;      // and of both calls' on the way to the end
  double second = 0;

  Res2sStep(double from, double to);
};

// Noise for one half of one stream: as randn gives it, then of mean 0 and deviation 1 as a whole
// and in each row of the batch.
at::Tensor StandardNoise(at::IntArrayRef sizes, at::Generator& generator);

// One stream within a step.
class Res2sStream {
 public:
  // `clean`: what the model takes the clean latents to be at `latents`.
  Res2sStream(const Res2sStep& step, const at::Tensor& latents, const at::Tensor& clean)
      : step_(step), anchor_(latents.to(at::kDouble)), clean_(clean.to(at::kDouble)) {}

  // The latents at the middle's sigma, for the second call of the model. Once.
  at::Tensor Middle(const at::Tensor& noise);
  // The latents at the next sigma; `clean`: what the second call takes the clean ones to be.
  at::Tensor End(const at::Tensor& clean, const at::Tensor& noise) const;

 private:
  Res2sStep step_;
  at::Tensor anchor_;  // where the step starts
  at::Tensor clean_;
};

}  // namespace reel::model::ltx2
