// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/begun_work.h"

#include <utility>

#include "server/front/scheduling/run_order.h"

namespace reel::front {

const BegunWork::Work& BegunWork::At(const FleetWorker& worker) {
  const auto known = work_.find(&worker);
  return known != work_.end() ? known->second
                              : work_.emplace(&worker, Gather(worker)).first->second;
}

BegunWork::Work BegunWork::Gather(const FleetWorker& worker) {
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
void BegunWork::FreeThoseWhoWait(const FleetWorker& worker, Work& work) const {
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

void BegunWork::Park(const FleetWorker& worker, absl::Span<const std::string> ids) {
  parked_.insert(ids.begin(), ids.end());
  work_.erase(&worker);
}

}  // namespace reel::front
