// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/preemption.h"

#include <algorithm>

#include "server/front/jobs/run_order.h"

namespace reel::front {
namespace {

// Until all that moves is done.
absl::Duration TimeOf(absl::Span<const BegunJob> begun, bool together) {
  absl::Duration sum, longest;
  for (const BegunJob& job : begun) {
    if (job.parked) continue;
    sum += job.left;
    longest = std::max(longest, job.left);
  }
  return together ? longest : sum;
}

// Each that would be parked still meets its deadline when everything else goes before it.
bool AllKeepSlack(absl::Span<const BegunJob> begun, const Urgent& urgent, absl::Duration now) {
  absl::Duration all = urgent.needs;
  for (const BegunJob& job : begun) all += job.left;
  return std::all_of(begun.begin(), begun.end(),
                     [&](const BegunJob& job) { return !job.parked || now + all <= job.deadline; });
}

// With these parked as well: the newcomer is in time, and so are they.
bool MayAllBeParked(std::vector<BegunJob> begun, absl::Span<const size_t> parked, bool together,
                    const Urgent& urgent, absl::Duration now) {
  for (const size_t i : parked) begun[i].parked = true;
  const auto count =
      std::count_if(begun.begin(), begun.end(), [](const auto& job) { return job.parked; });
  return static_cast<size_t>(count) <= kMostParked &&
         now + TimeOf(begun, together) + urgent.needs <= urgent.deadline &&
         AllKeepSlack(begun, urgent, now);
}

}  // namespace

std::vector<size_t> WhomToPark(absl::Span<const BegunJob> begun, bool together,
                               const Urgent& urgent, absl::Duration now) {
  std::vector<size_t> candidates, parked;
  for (size_t i = 0; i < begun.size(); ++i) {
    if (!begun[i].may_park || begun[i].parked) continue;
    candidates.push_back(i);
    if (begun[i].left >= kWorthParking * urgent.needs) parked.push_back(i);
  }
  const std::vector<BegunJob> all(begun.begin(), begun.end());
  if (!parked.empty() && MayAllBeParked(all, parked, together, urgent, now)) return parked;
  parked.clear();
  std::vector<BegunJob> then = all;
  const auto in_time = [&] {
    return now + TimeOf(then, together) + urgent.needs <= urgent.deadline;
  };
  if (in_time()) return {};
  std::stable_sort(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
    return begun[a].deadline - begun[a].left > begun[b].deadline - begun[b].left;
  });
  for (const size_t i : candidates) {
    then[i].parked = true;
    parked.push_back(i);
    if (in_time()) break;
  }
  if (!MayAllBeParked(all, parked, together, urgent, now)) return {};
  return parked;
}

std::vector<std::string> Preemption::Victims(const Newcomer& newcomer, const FleetWorker& worker,
                                             absl::Duration ahead, bool soon) const {
  if (options_.fifo || newcomer.need.alone || SharesSteps(newcomer, worker)) return {};
  std::vector<std::string> ids;
  std::vector<BegunJob> begun;
  int64_t rows = 0, bytes = 0;
  for (const auto& [id, held] : worker.held) {
    if (held.alone) return {};
    if (held.parked()) bytes += held.parked_bytes;
    const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
    if (job == nullptr || !held.started || !job->at_worker()) continue;
    const bool ran = held.ran_enough || soon;
    const bool may_park = job->stage == model::Stage::kDenoise && ran &&
                          job->preemptions < kMostPreemptions && GoesBefore(newcomer, *job);
    ids.push_back(id);
    begun.push_back({job->LeftP90(), job->deadline, held.parked(), may_park});
    if (!held.parked()) rows += held.shape.rows();
  }
  if (bytes >= kMostParkedBytes) return {};
  std::vector<std::string> victims;
  const Urgent urgent = {newcomer.waiting.predicted + ahead, newcomer.waiting.deadline};
  const bool together = worker.Packs(newcomer.need.shape.model, rows, options_.fill_rows);
  for (const size_t i : WhomToPark(begun, together, urgent, clock_.Monotonic())) {
    victims.push_back(ids[i]);
  }
  return victims;
}

absl::Duration Preemption::TimeSaved(const Newcomer& newcomer, absl::Duration ahead) const {
  absl::Duration most;
  for (const auto& [name, worker] : fleet_.workers()) {
    if (!fleet_.Suits(worker, newcomer.need)) continue;
    if (worker.held.empty()) return absl::ZeroDuration();  // it would go there
    absl::Duration saved;
    for (const std::string& id : Victims(newcomer, worker, ahead, /*soon=*/true)) {
      saved += jobs_.Get(id).Left();
    }
    most = std::max(most, saved);
  }
  return most;
}

// By the rules of the queue: its class and slack inside a tenant, shares between tenants.
bool Preemption::GoesBefore(const Newcomer& newcomer, const ActiveJob& other) const {
  const Waiting& mine = newcomer.waiting;
  if (mine.tenant == other.row.tenant) {
    Waiting theirs = WaitingOf(other);
    theirs.predicted = other.LeftP90();
    return RunsBefore(mine, theirs, clock_.Monotonic());
  }
  const double advance = absl::ToDoubleSeconds(newcomer.advance) / share_.weight(mine.tenant);
  return share_.virtual_time(mine.tenant) - advance <= share_.virtual_time(other.row.tenant);
}

// Then it does not wait for them.
bool Preemption::SharesSteps(const Newcomer& newcomer, const FleetWorker& worker) const {
  const WorkShape& shape = newcomer.need.shape;
  if (newcomer.need.profile == "batch_invariant") return false;
  int64_t rows = shape.rows();
  for (const auto& [id, held] : worker.held) {
    if (!held.started || held.parked()) continue;
    if (held.shape.model != shape.model || held.shape.plan != shape.plan) return false;
    rows += held.shape.rows();
  }
  return worker.Packs(shape.model, rows, options_.fill_rows);
}

}  // namespace reel::front
