// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/preemption.h"

#include <algorithm>
#include <optional>

#include "server/front/scheduling/run_order.h"

namespace reel::front {

const BegunWork::Work& BegunWork::At(const PlannedWorker& worker) {
  const auto known = work_.find(&worker);
  return known != work_.end() ? known->second
                              : work_.emplace(&worker, Gather(worker)).first->second;
}

BegunWork::Work BegunWork::Gather(const PlannedWorker& worker) {
  Work work;
  int64_t bytes = 0;
  for (const auto& [id, held] : worker.held) {
    const bool parked = held.parked() || parked_.contains(id);
    work.is_closed |= held.alone;
    work.has_parked |= parked;
    if (parked) bytes += held.parked_bytes;
    if (!held.started) continue;
    if (!parked) {
      if (work.stepped == nullptr) work.stepped = &held.shape;
      work.is_alike &=
          held.shape.model == work.stepped->model && held.shape.plan == work.stepped->plan;
      work.stepped_rows += state_.workers.RowsTaken(held.shape);
      ++work.num_stepped;
    }
    const PlannedJob* job = state_.AtWorker(id, held.attempt);
    if (job == nullptr) continue;
    Job& mine = work.jobs.emplace_back();
    mine.id = &id;
    mine.job = job;
    mine.tenant = &Of(job->tenant);
    mine.left = job->LeftP90();
    mine.rest = KeyOf(RestOf(*job, mine.left), now_);
    mine.parked = parked;
    mine.ran_enough = held.ran_enough;
    mine.order_key = held.order_key;
    mine.may_park = job->stage <= model::Stage::kDenoise && job->preemptions < kMostPreemptions;
    work.may_park |= mine.may_park && !mine.parked;
    if (mine.parked) continue;
    work.rows += state_.workers.RowsTaken(held.shape);
    ++work.moving;
  }
  work.is_closed |= bytes >= kMostParkedBytes;
  FreeThoseWhoWait(worker, work);
  return work;
}

// Where steps are not shared only the first one is stepped. Once that one has run its least the
// others need not: they lose nothing when they are parked.
void BegunWork::FreeThoseWhoWait(const PlannedWorker& worker, Work& work) const {
  const bool shares =
      work.stepped != nullptr && work.is_alike &&
      state_.workers.Packs(worker, *work.stepped, work.num_stepped, work.stepped_rows);
  if (shares) return;
  const Job* first = nullptr;
  for (const Job& job : work.jobs) {
    if (job.parked || job.job->stage > model::Stage::kDenoise) continue;
    if (first == nullptr || job.order_key < first->order_key) first = &job;
  }
  if (first == nullptr || !first->ran_enough) return;
  for (Job& job : work.jobs) job.ran_enough = true;
}

BegunWork::Tenant& BegunWork::Of(std::string_view tenant) {
  const auto [found, is_new] = tenants_.try_emplace(tenant);
  if (is_new) {
    found->second.name = tenant;
    found->second.weight = state_.share.weight(tenant);
  }
  return found->second;
}

double BegunWork::VirtualTime(Tenant& tenant) const {
  if (!tenant.virtual_time) tenant.virtual_time = state_.share.virtual_time(tenant.name);
  return *tenant.virtual_time;
}

double BegunWork::Used(Tenant& tenant) {
  if (tenant.used) return *tenant.used;
  if (!unused_) GatherUnused();
  const auto unused = unused_->find(tenant.name);
  const double advance =
      unused == unused_->end() ? 0 : absl::ToDoubleSeconds(unused->second) / tenant.weight;
  tenant.used = VirtualTime(tenant) - advance;
  return *tenant.used;
}

void BegunWork::GatherUnused() {
  unused_.emplace();
  for (const auto& [name, worker] : state_.workers.workers()) {
    for (const auto& [id, held] : worker.held) {
      const PlannedJob* job = state_.AtWorker(id, held.attempt);
      if (job != nullptr) (*unused_)[job->tenant] += job->Unused();
    }
  }
}

void BegunWork::Park(const PlannedWorker& worker, absl::Span<const std::string> ids) {
  parked_.insert(ids.begin(), ids.end());
  work_.erase(&worker);
}

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

std::vector<std::string> IdsOf(const BegunWork::Work& work, absl::Span<const size_t> of) {
  std::vector<std::string> chosen;
  for (const size_t i : of) chosen.push_back(*work.jobs[i].id);
  return chosen;
}

}  // namespace

std::vector<size_t> WhomToPark(absl::Span<const BegunJob> begun, bool together,
                               const Urgent& urgent, absl::Duration now) {
  std::vector<size_t> candidates, parked;
  for (size_t i = 0; i < begun.size(); ++i) {
    if (!begun[i].may_park || begun[i].parked) continue;
    candidates.push_back(i);
    const double worth = begun[i].had_more ? kWorthParkingOfMore : kWorthParking;
    if (begun[i].only_for_deadline) continue;
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

std::vector<std::string> Preemption::Victims(const Newcomer& newcomer, const PlannedWorker& worker,
                                             absl::Duration ahead, bool soon) {
  if (newcomer.need.alone || !HasVictims(worker)) return {};
  const BegunWork::Work& work = begun_.At(worker);
  const Urgent urgent = {newcomer.waiting.predicted + ahead, newcomer.waiting.deadline};
  // Once it shares their steps it does so to its end: then nobody is too young to be parked.
  if (SharesSteps(newcomer.need, state_.workers.RowsTaken(newcomer.need.shape), worker)) {
    const auto jobs = Compare(newcomer, work, /*soon=*/true, /*for_share=*/true);
    return IdsOf(work, WhomToLeave(jobs, urgent, now_));
  }
  const auto jobs = Compare(newcomer, work, soon, /*for_share=*/false);
  if (jobs.empty()) return {};
  const bool together = state_.workers.Packs(worker, newcomer.need.shape, work.moving, work.rows);
  return IdsOf(work, WhomToPark(jobs, together, urgent, now_));
}

bool Preemption::HasVictims(const PlannedWorker& worker) {
  if (state_.options.fifo) return false;
  const BegunWork::Work& work = begun_.At(worker);
  return work.may_park && !work.is_closed;
}

std::vector<std::string> Preemption::Company(const PlannedJob& running,
                                             const PlannedWorker& worker) {
  if (running.need.alone || !HasVictims(worker) || !SharesSteps(running.need, 0, worker)) return {};
  const Newcomer self = {WaitingOf(running), running.need, running.Unused()};
  const Urgent urgent = {running.LeftP90(), running.deadline};
  const BegunWork::Work& work = begun_.At(worker);
  const auto jobs = Compare(self, work, /*soon=*/true, /*for_share=*/true);
  return IdsOf(work, WhomToLeave(jobs, urgent, now_));
}

std::vector<BegunJob> Preemption::Compare(const Newcomer& newcomer, const BegunWork::Work& work,
                                          bool soon, bool for_share) {
  BegunWork::Tenant& mine = begun_.Of(newcomer.waiting.tenant);
  std::vector<BegunJob> jobs;
  jobs.reserve(work.jobs.size());
  bool any = false;
  for (const BegunWork::Job& other : work.jobs) {
    BegunJob& job = jobs.emplace_back();
    job.left = other.left;
    job.deadline = other.job->deadline;
    job.parked = other.parked;
    if (job.parked || !other.may_park || (!other.ran_enough && !soon)) continue;
    if (for_share && other.tenant == &mine) continue;
    job.may_park = GoesBefore(newcomer, mine, other);
    job.had_more = job.may_park && HadMore(newcomer, mine, *other.tenant);
    if (!job.may_park && !for_share && newcomer.admitted && other.tenant != &mine) {
      job.only_for_deadline =
          other.job->preemptions == 0 && other.left >= kWorthParking * newcomer.waiting.predicted;
      job.may_park = job.only_for_deadline;
    }
    any |= for_share ? job.had_more : job.may_park;
  }
  if (!any) jobs.clear();
  return jobs;
}

std::optional<absl::Duration> Preemption::WaitBeside(const Newcomer& newcomer,
                                                     absl::Span<const KindCost> kinds) {
  std::optional<absl::Duration> least;
  for (const auto& [name, worker] : state_.workers.workers()) {
    const KindCost* const own = kinds.size() == 1 ? &kinds.front() : ObservedAt(kinds, worker);
    if (own == nullptr || !state_.workers.CanTake(worker, newcomer.need, {})) continue;
    const absl::Duration slower =
        std::max(absl::ZeroDuration(), own->cost.p90() - newcomer.waiting.predicted);
    Newcomer there = newcomer;
    there.waiting.predicted += slower;
    const auto beside = TimeBeside(there, worker);
    if (beside) least = std::min(least.value_or(absl::InfiniteDuration()), slower + *beside);
  }
  return least;
}

std::optional<absl::Duration> Preemption::TimeBeside(const Newcomer& newcomer,
                                                     const PlannedWorker& worker) {
  if (worker.held.empty()) return absl::ZeroDuration();
  const int64_t rows = state_.workers.RowsTaken(newcomer.need.shape);
  if (begun_.At(worker).has_parked || !SharesSteps(newcomer.need, rows, worker)) {
    return std::nullopt;
  }
  // One step of the others more than it has itself: the one that it finds under way.
  const int steps = newcomer.need.shape.steps() + 1;
  absl::Duration beside, all = newcomer.waiting.predicted;
  absl::Duration first_deadline = absl::InfiniteDuration();
  for (const auto& [id, held] : worker.held) {
    const PlannedJob* const job = state_.AtWorker(id, held.attempt);
    if (job == nullptr) continue;  // it has ended, and leaves
    const absl::Duration left = job->LeftP90();
    beside += std::min(left, left / std::max(1, job->need.shape.steps() - job->step) * steps);
    all += left;
    first_deadline = std::min(first_deadline, job->deadline);
  }
  if (now_ + all > first_deadline) return std::nullopt;
  return beside;
}

WorkerTable::Names Preemption::ClosedTo(const PlannedJob& job) {
  WorkerTable::Names closed;
  std::optional<RunKey> key;
  for (const auto& [name, worker] : state_.workers.workers()) {
    if (!begun_.At(worker).has_parked) continue;
    for (const auto& [id, held] : worker.held) {
      if (!held.parked()) continue;
      const PlannedJob* parked = state_.AtWorker(id, held.attempt);
      if (parked == nullptr || parked->tenant != job.tenant) continue;
      if (!key) key = KeyOf(WaitingOf(job), now_);
      if (!(*key < KeyOf(RestOf(*parked, parked->LeftP90()), now_))) closed.insert(name);
    }
  }
  return closed;
}

// By the rules of the queue: its class and slack inside a tenant, shares between tenants.
bool Preemption::GoesBefore(const Newcomer& newcomer, BegunWork::Tenant& mine,
                            const BegunWork::Job& other) {
  if (other.tenant == &mine) return KeyOf(newcomer.waiting, now_) < other.rest;
  const double advance = absl::ToDoubleSeconds(newcomer.advance) / mine.weight;
  return begun_.VirtualTime(mine) - advance <= begun_.VirtualTime(*other.tenant);
}

bool Preemption::HadMore(const Newcomer& newcomer, BegunWork::Tenant& mine,
                         BegunWork::Tenant& other) {
  if (&other == &mine) return false;
  const absl::Duration ahead = std::min(newcomer.waiting.device_time(), kHadMore);
  return begun_.Used(mine) + absl::ToDoubleSeconds(ahead) / mine.weight <= begun_.Used(other);
}

// Then it does not wait for them. `rows`: beside those that run there.
bool Preemption::SharesSteps(const Need& need, int64_t rows, const PlannedWorker& worker) {
  if (need.profile == "batch_invariant") return false;
  const BegunWork::Work& work = begun_.At(worker);
  const WorkShape* const like = work.stepped;
  if (like != nullptr &&
      (!work.is_alike || like->model != need.shape.model || like->plan != need.shape.plan)) {
    return false;
  }
  return state_.workers.Packs(worker, need.shape, work.num_stepped + (rows > 0 ? 1 : 0),
                              work.stepped_rows + rows);
}

}  // namespace reel::front
