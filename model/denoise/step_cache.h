// SPDX-License-Identifier: Apache-2.0
// Skips blocks in steps that change little ("first block cache"). If the first block adds nearly
// what it added in the last full step, the last result of the other blocks is reused. Lossy, and
// only for the kernel profile "cache".
#pragma once

#include <cstdint>

#include "model/bridge/aten.h"
#include "model/denoise/guidance.h"

namespace reel::model {

// Defaults for requests without settings.
inline constexpr double kCacheThreshold = 0.1;
inline constexpr int kCacheMostReused = 3;

// A request's settings.
struct CacheRules {
  double threshold = 0;  // on the relative change, summed over all rows; 0: every step is full
  int most_reused = 0;   // most reused steps in a row

  bool uses_cache() const { return threshold > 0 && most_reused > 0; }
};

// The cache of one clip: a value, whose tensors are never written again. Every row of the guidance
// has its own entries.
class StepCache {
 public:
  StepCache() = default;
  explicit StepCache(CacheRules rules) : rules_(rules) {}

  const CacheRules& rules() const { return rules_; }
  // Whether a step with these rows could reuse the cache.
  bool Has(const GuidancePoint& point) const;
  // The relative change of what the first block adds: [] fp32, on the tensors' device.
  at::Tensor ChangeOf(const at::Tensor& added) const;
  bool Allows(double change) const { return change < rules_.threshold; }
  const at::Tensor& first() const { return first_; }
  const at::Tensor& others() const { return others_; }

  // Stores a full step: what the first block added, and what the others did.
  void Keep(const GuidancePoint& point, at::Tensor first, at::Tensor others);
  void Reused();
  // Empties the cache until the next full step.
  void Forget();

  int reused_steps() const { return reused_steps_; }  // in all passes
  StepCache To(at::Device where) const;

 private:
  CacheRules rules_;
  GuidancePoint point_;
  at::Tensor first_, others_;  // [B', S, D] and [B, S, D]
  int in_row_ = 0;
  int reused_steps_ = 0;
};

}  // namespace reel::model
