// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/run_order.h"

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
FairShare WithoutAdvances(const PlannedJobs& jobs, const FairShare& share, bool of_all) {
  FairShare used = share;
  for (const PlannedJob* job : jobs) {
    if (of_all || job->held_unbegun()) used.Charge(job->tenant, -job->Unused());
  }
  return used;
}

// A job of it has come. `own`: that job, if the table has it.
void WakeTenant(std::string_view tenant, const PlannedJob* own, const PlannedJobs& jobs,
                const FairShare& share, FairShare& woken) {
  const auto is_active = [own](const PlannedJob* job) { return job != own && job->deciding(); };
  const bool was_awake = std::any_of(jobs.begin(), jobs.end(), [&](const PlannedJob* job) {
    return job->tenant == tenant && is_active(job);
  });
  if (was_awake) return;
  std::set<std::string_view> active;
  for (const PlannedJob* job : jobs) {
    if (is_active(job)) active.insert(job->tenant);
  }
  woken.Wake(std::string(tenant), active, WithoutAdvances(jobs, share, /*of_all=*/true));
}

bool ComesBefore(const PlannedJob* a, const PlannedJob* b) {
  return std::tie(a->accepted, a->number) < std::tie(b->accepted, b->number);
}

}  // namespace

Waiting WaitingOf(const PlannedJob& job) { return RestOf(job, job.cost.p90()); }

// Note: [Places in the order]
// In a pool of several kinds a job takes longer at one worker than at another. Its time is known
// only once it has a worker. Its place in the order is by the one quote until it begins. Else a job
// that a slow worker holds would fall behind all later ones, since those are still quoted for the
// fast worker. They would ignore its slot, and the slow worker would be given the whole queue, the
// latest first.
Waiting InOrder(const PlannedJob& job) {
  Waiting waiting = WaitingOf(job);
  if (!job.pool) return waiting;
  waiting.predicted = job.pool->least_p90;
  waiting.devices = job.pool->devices;
  return waiting;
}

Waiting RestOf(const PlannedJob& job, absl::Duration left_p90) {
  return {job.tenant, job.priority, job.accepted, job.deadline, left_p90, job.number, job.devices};
}

void WakeTenant(const PlannedJob& newcomer, const PlannedJobs& jobs, FairShare& share) {
  WakeTenant(newcomer.tenant, &newcomer, jobs, share, share);
}

RunQueue::RunQueue(const State& state, absl::Duration now) {
  for (const PlannedJob* job : state.jobs) {
    if (job->waits()) jobs_.push_back(job);
  }
  // What is equal otherwise stays as it came, or workers would be told of a new order for nothing:
  // a job's number decides.
  if (state.options.fifo) {
    order_ = jobs_;
    std::sort(order_.begin(), order_.end(), ComesBefore);
    return;
  }
  if (jobs_.empty()) return;
  std::vector<Waiting> waiting;
  waiting.reserve(jobs_.size());
  for (const PlannedJob* job : jobs_) waiting.push_back(InOrder(*job));
  lines_.emplace(waiting, WithoutAdvances(state.jobs, state.share, /*of_all=*/false), now);
}

const PlannedJob* RunQueue::At(size_t index) {
  while (index >= order_.size()) {
    const auto next = lines_ ? lines_->Next() : std::nullopt;
    if (!next) return nullptr;
    order_.push_back(jobs_[*next]);
  }
  return order_[index];
}

PlannedJobs RunQueue::AtWorkers() {
  const auto all = static_cast<size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const auto* job) { return job->at_worker(); }));
  PlannedJobs held;
  for (size_t i = 0; held.size() < all; ++i) {
    if (const PlannedJob* job = At(i); job->at_worker()) held.push_back(job);
  }
  return held;
}

PlannedJobs RunOrder(const State& state, absl::Duration now) {
  RunQueue queue(state, now);
  PlannedJobs order;
  order.reserve(queue.jobs().size());
  while (const PlannedJob* job = queue.At(order.size())) order.push_back(job);
  return order;
}

PlannedJobs RunOrderWith(const Waiting& newcomer, const State& state, absl::Duration now) {
  PlannedJobs jobs;
  std::vector<Waiting> waiting;
  jobs.reserve(state.jobs.size() + 1);
  waiting.reserve(state.jobs.size() + 1);
  for (const PlannedJob* job : state.jobs) {
    if (!job->waits() && job->phase() != Phase::kReserved) continue;
    jobs.push_back(job);
    waiting.push_back(InOrder(*job));
  }
  if (state.options.fifo) {
    std::sort(jobs.begin(), jobs.end(), ComesBefore);
    jobs.push_back(nullptr);
    return jobs;
  }
  jobs.push_back(nullptr);
  waiting.push_back(newcomer);
  waiting.back().number = std::numeric_limits<int64_t>::max();
  FairShare then = WithoutAdvances(state.jobs, state.share, /*of_all=*/false);
  WakeTenant(newcomer.tenant, nullptr, state.jobs, state.share, then);
  PlannedJobs order;
  order.reserve(jobs.size());
  for (const size_t index : FairOrder(waiting, then, now)) order.push_back(jobs[index]);
  return order;
}

}  // namespace reel::front
