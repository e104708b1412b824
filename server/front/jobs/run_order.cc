// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/run_order.h"

#include <algorithm>

namespace reel::front {

std::vector<ActiveJob*> RunOrder(JobTable& table, const FairShare& share, bool fifo,
                                 absl::Duration now) {
  std::vector<ActiveJob*> jobs;
  for (auto& [id, job] : table) {
    if (job.runnable()) jobs.push_back(&job);
  }
  if (fifo) {
    std::stable_sort(jobs.begin(), jobs.end(), [](const ActiveJob* a, const ActiveJob* b) {
      return a->accepted < b->accepted;
    });
    return jobs;
  }
  std::vector<Waiting> waiting;
  waiting.reserve(jobs.size());
  for (const ActiveJob* job : jobs) {
    waiting.push_back(
        {job->row.tenant, job->log->priority(), job->accepted, job->deadline, job->cost.p90()});
  }
  std::vector<ActiveJob*> ordered;
  ordered.reserve(jobs.size());
  for (size_t index : FairOrder(waiting, share, now)) ordered.push_back(jobs[index]);
  return ordered;
}

}  // namespace reel::front
