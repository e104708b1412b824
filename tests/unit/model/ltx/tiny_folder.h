// SPDX-License-Identifier: Apache-2.0
// The tiny models of tests/golden/models, as folders on disk, with their weights drawn from seeds
// in the order of golden_models.py; and the tensors that the references made of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/aten.h"
#include "model/weights/weight_set.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {

// A diffusers folder with the weights of one generation ("0.9.0", "0.9.1", "0.9.5").
class TinyFolder {
 public:
  explicit TinyFolder(const std::string& version);
  const std::string& path() const { return scratch_.path(); }
  // Exchanges the scheduler for that of another generation, as the condition pipeline needs it.
  void TakeSchedulerOf(const std::string& version) const;

 private:
  const ScratchFolder scratch_;
};

// The expected tensors of one generation.
class Golden {
 public:
  explicit Golden(const std::string& version);
  at::Tensor operator[](const std::string& name) const;

 private:
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
