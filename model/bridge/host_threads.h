// SPDX-License-Identifier: Apache-2.0
// libtorch's threads for the `cpu` variants of kernels/.
#pragma once

#include "kernels/dispatch/host_threads.h"

namespace reel::model {

// All that the process has, the calling one among them. What a part throws comes out of the call.
const kernels::HostThreads& LibtorchThreads();

}  // namespace reel::model
