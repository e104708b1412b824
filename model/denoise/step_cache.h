// SPDX-License-Identifier: Apache-2.0
// Steps that change little: where the first block of the transformer adds nearly what it added in
// the last full step, what the other blocks added then stands for what they would add now ("first
// block cache"). Lossy, and of the kernel profile "cache" alone.
#pragma once

#include <cstdint>

#include "model/bridge/aten.h"
#include "model/denoise/guidance.h"

namespace reel::model {

// Of requests that do not say.
inline constexpr double kCacheThreshold = 0.1;
inline constexpr int kCacheMostReused = 3;

// Of a request.
struct CacheRules {
  double threshold = 0;  // of the relative change, summed over all rows; 0: every step is full
  int most_reused = 0;   // steps in a row that are not

  bool uses_cache() const { return threshold > 0 && most_reused > 0; }
};

// Of one clip: a value, whose tensors are never written again. Every row of the guidance has its
// own.
class StepCache {
 public:
  StepCache() = default;
  explicit StepCache(CacheRules rules) : rules_(rules) {}

  const CacheRules& rules() const { return rules_; }
  // Whether a step with these rows may come to reuse what is kept.
  bool Has(const GuidancePoint& point) const;
  // How much of what the first block added then is different now: [] fp32, where the tensors are.
  at::Tensor ChangeOf(const at::Tensor& added) const;
  bool Allows(double change) const { return change < rules_.threshold; }
  const at::Tensor& first() const { return first_; }
  const at::Tensor& others() const { return others_; }

  // A full step: what the first block and the others added, as they are kept from now on.
  void Keep(const GuidancePoint& point, at::Tensor first, at::Tensor others);
  void Reused();
  // Nothing is kept until the next full step.
  void Forget();

  int reused_steps() const { return reused_steps_; }  // of all passes
  StepCache To(at::Device where) const;

 private:
  CacheRules rules_;
  GuidancePoint point_;
  at::Tensor first_, others_;  // [B', S, D] and [B, S, D]
  int in_row_ = 0;
  int reused_steps_ = 0;
};

}  // namespace reel::model
