// SPDX-License-Identifier: Apache-2.0
// A table of cublasLt's fastest algorithms for known layers, on Hopper under lasting load, if the
// library chooses another. Measured once (lt_sweep.py of tests/bench/ltx), so that every process
// uses the same.
#pragma once

#include "model/torch_cuda/lt_call.h"

namespace reel::model {

// The algorithm for the current device; null: use the library's choice, for other sizes, devices
// and versions.
const LtAlgorithm* TunedFor(const LtShape& shape);

}  // namespace reel::model
