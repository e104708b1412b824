// SPDX-License-Identifier: Apache-2.0
// A case of kernel_bench, checked and timed.
#pragma once

#include <string>

#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {

struct MeasureOptions {
  std::string variant;  // empty: all
  bool cold = true;     // calls take turns over more memory than the caches hold
  bool hot = false;     // every call on the same tensors
  int rounds = 3;       // over everything that is compared
  int samples = 5;      // of each in a round
  bool inject_error = false;
};

// Rows of a report: every variant, and the copies of the same number of bytes, sampled in turn.
absl::StatusOr<nlohmann::json> MeasureCase(BenchDevice& device, const BenchCase& bench,
                                           const MeasureOptions& options);

}  // namespace reel::kernels
