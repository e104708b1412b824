// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/kernels/bench_device.h"

namespace reel::kernels {

absl::StatusOr<std::unique_ptr<BenchDevice>> OpenBenchDevice() { return MakeCpuBench(); }

}  // namespace reel::kernels
