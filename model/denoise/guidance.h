// SPDX-License-Identifier: Apache-2.0
// Combines velocities by guidance: away from the negative prompt, and away from a transformer whose
// self-attention is perturbed in some blocks. The latter is "STG" of the original pipeline, and off
// in all of diffusers'.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

// The guidance of one step.
struct GuidancePoint {
  double scale = 1;                  // above 1: away from the negative prompt
  double rescale = 0;                // 0..1: rescales the deviation to that of the prompt alone
  double perturbed_scale = 0;        // above 0: away from the perturbed transformer
  std::vector<int64_t> blocks = {};  // perturbed blocks

  bool uses_negative() const { return scale > 1; }
  bool uses_perturbed() const { return perturbed_scale > 0; }
  // The rows of a step: [negative,] prompt [, perturbed prompt].
  int64_t rows() const { return 1 + (uses_negative() ? 1 : 0) + (uses_perturbed() ? 1 : 0); }

  friend bool operator==(const GuidancePoint&, const GuidancePoint&) = default;
};

// The guidance of a whole pass.
struct Guidance {
  std::vector<GuidancePoint> points = {{}};
  std::vector<double> from;  // points[i] applies to sigmas of from[i] and above; empty: one for all
  bool star = false;         // "CFG*": the negative's answer is first scaled to fit the prompt's

  const GuidancePoint& At(double sigma) const;
  bool uses_negative() const;
  bool uses_perturbed() const;
  int64_t most_rows() const;

  friend bool operator==(const Guidance&, const Guidance&) = default;
};

// Combines `velocities` [point.rows(), S, C] to [1, S, C], in their own type.
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
