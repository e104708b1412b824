// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/host_threads.h"

#include <ATen/Parallel.h>

namespace reel::model {
namespace {

void Run(int64_t count, int64_t grain, kernels::HostThreads::Part part, void* context) {
  at::parallel_for(0, count, grain, [&](int64_t first, int64_t end) { part(context, first, end); });
}

constexpr kernels::HostThreads kThreads = {&Run};

}  // namespace

const kernels::HostThreads& LibtorchThreads() { return kThreads; }

}  // namespace reel::model
