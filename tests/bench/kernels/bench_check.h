// SPDX-License-Identifier: Apache-2.0
// Checks a benchmarked call's results: times of wrong results are worth nothing.
#pragma once

#include <memory>
#include <vector>

#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {

// What one period of a case must give, by the variant `loops` on the CPU.
class BenchReference {
 public:
  static absl::StatusOr<std::unique_ptr<BenchReference>> Compute(const BenchCase& bench);

  // The first period of every output within the rounding of its type and of the case, and all
  // others with the same bits as the first. `spoil` changes one element before, to see that this
  // would be found.
  absl::StatusOr<nlohmann::json> Compare(BenchDevice& device, const BenchTensors& got,
                                         bool spoil) const;

 private:
  explicit BenchReference(double tolerance)
      : cpu_(MakeCpuBench()), tensors_(*cpu_), tolerance_(tolerance) {}

  std::unique_ptr<BenchDevice> cpu_;
  BenchTensors tensors_;
  const double tolerance_;
};

}  // namespace reel::kernels
