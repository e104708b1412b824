// SPDX-License-Identifier: Apache-2.0
// The tensors that the references made of the tiny models of tests/golden/models, and how near ours
// come to them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/aten.h"
#include "model/weights/weight_set.h"
#include "tests/fakes/tiny_ltx.h"

namespace reel::model::ltx {

// The expected tensors of one generation, or those of another folder of tests/golden.
class Golden {
 public:
  explicit Golden(const std::string& version);
  static Golden In(const std::string& folder);
  at::Tensor operator[](const std::string& name) const;
  bool Has(const std::string& name) const { return set_.Find(name) != nullptr; }

 private:
  explicit Golden(WeightSet set) : set_(std::move(set)) {}

  WeightSet set_;
};

// randn of the reference's generator.
at::Tensor Draw(uint64_t seed, at::IntArrayRef shape);

struct Difference {
  double worst = 0;     // largest absolute difference
  double relative = 0;  // of the expected values' standard deviation
};
// Different sizes make an infinite difference. Prints `what` and the figures.
Difference Compare(const std::string& what, const at::Tensor& actual, const at::Tensor& expected);

// The bounds of the parity that Reel promises.
inline constexpr double kLatentBound = 2e-4;  // of their standard deviation
inline constexpr double kFrameBound = 2e-3;   // of 0..1

}  // namespace reel::model::ltx
