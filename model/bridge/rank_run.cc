// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/rank_run.h"

#include <vector>

#include "kernels/dispatch/kernel_counters.h"

namespace reel::model {

void RunOnRanks(RankCrew& crew, const Ops& ops,
                const std::function<void(int rank, const Ops& ops)>& work) {
  std::vector<kernels::KernelCounters> counters(static_cast<size_t>(crew.size()));
  crew.Run([&](int rank) {
    if (rank == 0) return work(rank, ops);
    const at::Device device = crew.device(rank);
    const kernels::Execution run = {
        .plan = ops.run().plan,
        .counters = counters[static_cast<size_t>(rank)],
        .timer = nullptr,
        .stream = {.device = device.is_cuda() ? device.index() : -1, .handle = nullptr}};
    work(rank, Ops(run));
  });
  for (const kernels::KernelCounters& of_rank : counters) {
    for (const kernels::VariantUse& use : of_rank.Uses()) {
      ops.run().counters.Count(use.op, use.variant, use.calls);
    }
  }
}

}  // namespace reel::model
