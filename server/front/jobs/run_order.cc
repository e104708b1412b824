// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/run_order.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace reel::front {
namespace {

// A slot is paid for in advance; that is taken out here, of jobs that a worker has not begun, or of
// all, of which it has used a part.
FairShare WithoutAdvances(const JobTable& table, const FairShare& share, bool of_all) {
  FairShare used = share;
  for (const auto& [id, job] : table) {
    if (of_all || job.held_unbegun()) used.Charge(job.row.tenant, -job.Unused());
  }
  return used;
}

// A job of it has come. `own`: that job, if the table has it.
void WakeTenant(std::string_view tenant, const ActiveJob* own, const JobTable& table,
                const FairShare& share, FairShare& woken) {
  std::set<std::string_view> active;
  for (const auto& [id, job] : table) {
    if (&job != own && job.deciding()) active.insert(job.row.tenant);
  }
  if (active.contains(tenant)) return;
  woken.Wake(std::string(tenant), active, WithoutAdvances(table, share, /*of_all=*/true));
}

}  // namespace

Waiting WaitingOf(const ActiveJob& job) { return RestOf(job, job.cost.p90()); }

// Note: [Places in the order]
// In a pool of several kinds a job takes longer at one worker than at another. Its time is known
// only once it has a worker. Its place in the order is by the one quote until it begins. Else a job
// that a slow worker holds would fall behind all later ones, since those are still quoted for the
// fast worker. They would ignore its slot, and the slow worker would be given the whole queue, the
// latest first.
Waiting InOrder(const ActiveJob& job) {
  Waiting waiting = WaitingOf(job);
  if (!job.pool) return waiting;
  waiting.predicted = job.pool->least_p90;
  waiting.devices = job.pool->devices;
  return waiting;
}

Waiting RestOf(const ActiveJob& job, absl::Duration left_p90) {
  return {job.row.tenant, job.priority, job.accepted, job.deadline,
          left_p90,       job.number,   job.devices};
}

void WakeTenant(const ActiveJob& newcomer, const JobTable& table, FairShare& share) {
  WakeTenant(newcomer.row.tenant, &newcomer, table, share, share);
}

RunQueue::RunQueue(JobTable& table, const FairShare& share, bool fifo, absl::Duration now) {
  for (auto& [id, job] : table) {
    if (job.waits()) jobs_.push_back(&job);
  }
  // What is equal otherwise stays as it came, or workers would be told of a new order for nothing:
  // a job's number decides.
  if (fifo) {
    order_ = jobs_;
    std::sort(order_.begin(), order_.end(), [](const ActiveJob* a, const ActiveJob* b) {
      return std::tie(a->accepted, a->number) < std::tie(b->accepted, b->number);
    });
    return;
  }
  if (jobs_.empty()) return;
  std::vector<Waiting> waiting;
  waiting.reserve(jobs_.size());
  for (const ActiveJob* job : jobs_) waiting.push_back(InOrder(*job));
  lines_.emplace(waiting, WithoutAdvances(table, share, /*of_all=*/false), now);
}

ActiveJob* RunQueue::At(size_t index) {
  while (index >= order_.size()) {
    const auto next = lines_ ? lines_->Next() : std::nullopt;
    if (!next) return nullptr;
    order_.push_back(jobs_[*next]);
  }
  return order_[index];
}

std::vector<ActiveJob*> RunQueue::AtWorkers() {
  const auto all = static_cast<size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const auto* job) { return job->at_worker(); }));
  std::vector<ActiveJob*> held;
  for (size_t i = 0; held.size() < all; ++i) {
    if (ActiveJob* job = At(i); job->at_worker()) held.push_back(job);
  }
  return held;
}

std::vector<ActiveJob*> RunOrder(JobTable& table, const FairShare& share, bool fifo,
                                 absl::Duration now) {
  RunQueue queue(table, share, fifo, now);
  std::vector<ActiveJob*> order;
  order.reserve(queue.jobs().size());
  while (ActiveJob* job = queue.At(order.size())) order.push_back(job);
  return order;
}

std::vector<const ActiveJob*> RunAfter(const Waiting& newcomer, const JobTable& table,
                                       const FairShare& share, bool fifo, absl::Duration now) {
  std::vector<const ActiveJob*> jobs;
  if (fifo) return jobs;
  std::vector<Waiting> waiting;
  for (const auto& [id, job] : table) {
    if (!job.waits()) continue;
    jobs.push_back(&job);
    waiting.push_back(InOrder(job));
  }
  waiting.push_back(newcomer);
  waiting.back().number = std::numeric_limits<int64_t>::max();
  FairShare then = WithoutAdvances(table, share, /*of_all=*/false);
  WakeTenant(newcomer.tenant, nullptr, table, share, then);
  std::vector<const ActiveJob*> after;
  bool found = false;
  for (const size_t index : FairOrder(waiting, then, now)) {
    if (found) after.push_back(jobs[index]);
    found |= index == jobs.size();
  }
  return after;
}

}  // namespace reel::front
