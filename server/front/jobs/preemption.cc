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
    const double worth = begun[i].had_more ? kWorthParkingOfMore : kWorthParking;
    if (begun[i].left >= worth * urgent.needs) parked.push_back(i);
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

std::vector<size_t> WhomToLeave(absl::Span<const BegunJob> begun, const Urgent& urgent,
                                absl::Duration now) {
  std::vector<BegunJob> then(begun.begin(), begun.end());
  std::vector<size_t> left;
  for (size_t i = 0; i < then.size(); ++i) {
    BegunJob& job = then[i];
    if (job.parked || !job.may_park || !job.had_more) continue;
    if (job.left < kWorthParkingOfMore * urgent.needs) continue;
    job.parked = true;
    left.push_back(i);
  }
  const auto parked =
      std::count_if(then.begin(), then.end(), [](const auto& job) { return job.parked; });
  if (static_cast<size_t>(parked) > kMostParkedForShare) return {};
  return AllKeepSlack(then, urgent, now) ? left : std::vector<size_t>{};
}

std::vector<std::string> Preemption::Victims(const Newcomer& newcomer, const FleetWorker& worker,
                                             absl::Duration ahead, bool soon) const {
  if (options_.fifo || newcomer.need.alone) return {};
  // Once it shares their steps it does so to its end: then nobody is too young to be parked.
  const bool shares = SharesSteps(newcomer.need, newcomer.need.shape.rows(), worker);
  const Begun begun = BegunAt(worker, newcomer, soon || shares);
  if (begun.is_closed) return {};
  const Urgent urgent = {newcomer.waiting.predicted + ahead, newcomer.waiting.deadline};
  const absl::Duration now = clock_.Monotonic();
  if (shares) return begun.Ids(WhomToLeave(begun.jobs, urgent, now));
  const bool together =
      worker.Packs(newcomer.need.shape, begun.moving, begun.rows, options_.fill_rows);
  return begun.Ids(WhomToPark(begun.jobs, together, urgent, now));
}

std::vector<std::string> Preemption::Company(const ActiveJob& running,
                                             const FleetWorker& worker) const {
  if (options_.fifo || running.need.alone || !SharesSteps(running.need, 0, worker)) return {};
  const Newcomer self = {WaitingOf(running), running.need, running.Unused()};
  const Begun begun = BegunAt(worker, self, /*soon=*/true);
  if (begun.is_closed) return {};
  const Urgent urgent = {running.LeftP90(), running.deadline};
  return begun.Ids(WhomToLeave(begun.jobs, urgent, clock_.Monotonic()));
}

Preemption::Begun Preemption::BegunAt(const FleetWorker& worker, const Newcomer& newcomer,
                                      bool soon) const {
  Begun begun;
  UsedTimes used;
  int64_t bytes = 0;
  for (const auto& [id, held] : worker.held) {
    begun.is_closed |= held.alone;
    if (held.parked()) bytes += held.parked_bytes;
    const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
    if (job == nullptr || !held.started || !job->at_worker()) continue;
    const bool ran = held.ran_enough || soon;
    const bool may_park = job->stage == model::Stage::kDenoise && ran &&
                          job->preemptions < kMostPreemptions && GoesBefore(newcomer, *job);
    begun.ids.push_back(id);
    begun.jobs.push_back({job->LeftP90(), job->deadline, held.parked(), may_park,
                          may_park && HadMore(*job, newcomer, used)});
    if (held.parked()) continue;
    begun.rows += held.shape.rows();
    ++begun.moving;
  }
  begun.is_closed |= bytes >= kMostParkedBytes;
  return begun;
}

std::vector<std::string> Preemption::Begun::Ids(absl::Span<const size_t> of) const {
  std::vector<std::string> chosen;
  for (const size_t i : of) chosen.push_back(ids[i]);
  return chosen;
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

bool Preemption::IsBehind(const ActiveJob& job, const ActiveJob& begun) const {
  if (job.row.tenant != begun.row.tenant) return false;
  return !RunsBeforeRest(WaitingOf(job), begun);
}

bool Preemption::RunsBeforeRest(const Waiting& job, const ActiveJob& begun) const {
  Waiting rest = WaitingOf(begun);
  rest.predicted = begun.LeftP90();
  return RunsBefore(job, rest, clock_.Monotonic());
}

// By the rules of the queue: its class and slack inside a tenant, shares between tenants.
bool Preemption::GoesBefore(const Newcomer& newcomer, const ActiveJob& other) const {
  const Waiting& mine = newcomer.waiting;
  if (mine.tenant == other.row.tenant) return RunsBeforeRest(mine, other);
  const double advance = absl::ToDoubleSeconds(newcomer.advance) / share_.weight(mine.tenant);
  return share_.virtual_time(mine.tenant) - advance <= share_.virtual_time(other.row.tenant);
}

bool Preemption::HadMore(const ActiveJob& other, const Newcomer& newcomer, UsedTimes& used) const {
  const Waiting& mine = newcomer.waiting;
  if (mine.tenant == other.row.tenant) return false;
  const auto used_by = [&](std::string_view tenant) {
    const auto [found, is_new] = used.try_emplace(tenant);
    if (is_new) found->second = UsedBy(tenant);
    return found->second;
  };
  const absl::Duration ahead = std::min(mine.predicted, kHadMore);
  return used_by(mine.tenant) + absl::ToDoubleSeconds(ahead) / share_.weight(mine.tenant) <=
         used_by(other.row.tenant);
}

double Preemption::UsedBy(std::string_view tenant) const {
  absl::Duration unused;
  for (const auto& [name, worker] : fleet_.workers()) {
    for (const auto& [id, held] : worker.held) {
      const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (job != nullptr && job->row.tenant == tenant) unused += job->Unused();
    }
  }
  return share_.virtual_time(tenant) - absl::ToDoubleSeconds(unused) / share_.weight(tenant);
}

// Then it does not wait for them. `rows`: beside those that run there.
bool Preemption::SharesSteps(const Need& need, int64_t rows, const FleetWorker& worker) const {
  if (need.profile == "batch_invariant") return false;
  size_t jobs = rows > 0 ? 1 : 0;
  for (const auto& [id, held] : worker.held) {
    if (!held.started || held.parked()) continue;
    if (held.shape.model != need.shape.model || held.shape.plan != need.shape.plan) return false;
    rows += held.shape.rows();
    ++jobs;
  }
  return worker.Packs(need.shape, jobs, rows, options_.fill_rows);
}

}  // namespace reel::front
