// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/host_threads.h"

#include <ATen/Parallel.h>

namespace reel::model {
namespace {

void Run(int64_t count, int64_t grain, kernels::HostThreads::Part part, void* context) {
  at::parallel_for(0, count, grain, [&](int64_t first, int64_t end) { part(context, first, end); });
}

// ATen's loop brings a thread-local bool. mold 1.10 lets the part that is read-only after
// relocation begin at it, though it takes no room. With an alignment of 1 it may lie on the page
// before, which is not mapped: the program does not start. Aligned like what follows, it cannot.
[[gnu::used]] alignas(16) thread_local char aligns_thread_locals = 0;

constexpr kernels::HostThreads kThreads = {&Run};

}  // namespace

const kernels::HostThreads& LibtorchThreads() { return kThreads; }

}  // namespace reel::model
