// SPDX-License-Identifier: Apache-2.0
// Guidance: away from the negative prompt, and away from what the transformer says when some of its
// blocks do not look around ("STG" of the original pipeline; off in all of diffusers').
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// What steers one step.
struct GuidancePoint {
  double scale = 1;                  // above 1: away from the negative prompt
  double rescale = 0;                // 0..1: brings the deviation back to that of the prompt alone
  double perturbed_scale = 0;        // above 0: away from the perturbed transformer
  std::vector<int64_t> blocks = {};  // that are perturbed

  bool uses_negative() const { return scale > 1; }
  bool uses_perturbed() const { return perturbed_scale > 0; }
  // Of a step: [negative,] prompt [, perturbed prompt].
  int64_t rows() const { return 1 + (uses_negative() ? 1 : 0) + (uses_perturbed() ? 1 : 0); }

  friend bool operator==(const GuidancePoint&, const GuidancePoint&) = default;
};

// What steers a whole pass.
struct Guidance {
  std::vector<GuidancePoint> points = {{}};
  std::vector<double> from;  // points[i] is for sigmas of from[i] and above; empty: one for all
  bool star = false;         // "CFG*": the negative's answer is first scaled to fit the prompt's

  const GuidancePoint& At(double sigma) const;
  bool uses_negative() const;
  bool uses_perturbed() const;
  int64_t most_rows() const;

  friend bool operator==(const Guidance&, const Guidance&) = default;
};

// `velocities` [point.rows(), S, C] to [1, S, C], in their own type.
at::Tensor Guide(const at::Tensor& velocities, const GuidancePoint& point, bool star);

// What steers one of the streams of a step, as LTX-2 has it: by differences between what the rows
// take the clean latents to be.
struct DeltaGuidance {
  double scale = 1;            // above 1: away from the negative prompt
  double perturbed_scale = 0;  // above 0: away from the perturbed transformer
  double isolated_scale = 1;   // above 1: away from the stream that does not see the others
  double rescale = 0;          // 0..1: brings the deviation back to that of the prompt alone

  friend bool operator==(const DeltaGuidance&, const DeltaGuidance&) = default;
};
// Clean latents by each row, [1, S, C] fp32; undefined where the step has no such row.
struct CleanLatents {
  at::Tensor prompt = {}, negative = {}, perturbed = {}, isolated = {};
};
at::Tensor GuideByDeltas(const CleanLatents& clean, const DeltaGuidance& by);

}  // namespace reel::model
