// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_cache.h"

#include <utility>

namespace reel::model {
namespace {

// Whether both steps have the same rows, in the same order; scales may differ.
bool SameRows(const GuidancePoint& a, const GuidancePoint& b) {
  return a.uses_negative() == b.uses_negative() && a.uses_perturbed() == b.uses_perturbed() &&
         (!a.uses_perturbed() || a.blocks == b.blocks);
}

at::Tensor SumOfMagnitudes(const at::Tensor& x) {
  return at::linalg_vector_norm(x, 1, c10::nullopt, false, at::kFloat);
}

}  // namespace

bool StepCache::Has(const GuidancePoint& point) const {
  return first_.defined() && in_row_ < rules_.most_reused && SameRows(point, point_);
}

// NaN, from a first block that added nothing, is below no threshold.
at::Tensor StepCache::ChangeOf(const at::Tensor& added) const {
  return SumOfMagnitudes(added - first_) / SumOfMagnitudes(first_);
}

void StepCache::Keep(const GuidancePoint& point, at::Tensor first, at::Tensor others) {
  point_ = point;
  first_ = std::move(first);
  others_ = std::move(others);
  in_row_ = 0;
}

void StepCache::Reused() {
  ++in_row_;
  ++reused_steps_;
}

void StepCache::Forget() {
  first_ = others_ = at::Tensor();
  in_row_ = 0;
}

StepCache StepCache::To(at::Device where) const {
  StepCache there = *this;
  if (first_.defined()) {
    there.first_ = first_.to(where);
    there.others_ = others_.to(where);
  }
  return there;
}

}  // namespace reel::model
