// SPDX-License-Identifier: Apache-2.0
// Which of cublasLt's algorithms takes a layer of a known size fastest on Hopper under lasting
// load, where that is not the one that the library chooses: measured once (lt_sweep.py of
// tests/bench/ltx), the same in every process.
#pragma once

#include "model/torch_cuda/lt_call.h"

namespace reel::model {

// Null where the library's own choice stands: for other sizes, devices and versions of it. Of the
// current device.
const LtAlgorithm* TunedFor(const LtShape& shape);

}  // namespace reel::model
