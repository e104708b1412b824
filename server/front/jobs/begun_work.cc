// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/begun_work.h"

#include <utility>

#include "server/front/jobs/run_order.h"

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
    work.is_closed |= held.alone;
    work.has_parked |= held.parked();
    if (held.parked()) bytes += held.parked_bytes;
    if (!held.started) continue;
    if (!held.parked()) {
      if (work.stepped == nullptr) work.stepped = &held.shape;
      work.is_alike &=
          held.shape.model == work.stepped->model && held.shape.plan == work.stepped->plan;
      work.stepped_rows += fleet_.RowsTaken(held.shape);
      ++work.num_stepped;
    }
    const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
    if (job == nullptr || !job->at_worker()) continue;
    Job& mine = work.jobs.emplace_back();
    mine.id = &id;
    mine.job = job;
    mine.tenant = &Of(job->row.tenant);
    mine.left = job->LeftP90();
    mine.rest = KeyOf(RestOf(*job, mine.left), now_);
    mine.parked = held.parked();
    mine.ran_enough = held.ran_enough;
    mine.order_key = held.order_key;
    mine.may_park = job->stage <= model::Stage::kDenoise && job->preemptions < kMostPreemptions;
    work.may_park |= mine.may_park && !mine.parked;
    if (mine.parked) continue;
    work.rows += fleet_.RowsTaken(held.shape);
    ++work.moving;
  }
  work.is_closed |= bytes >= kMostParkedBytes;
  FreeThoseWhoWait(worker, work);
  return work;
}

// Where steps are not shared only the first one is stepped. Once that one has run its least the
// others need not: they lose nothing when they are parked.
void BegunWork::FreeThoseWhoWait(const FleetWorker& worker, Work& work) const {
  const bool shares = work.stepped != nullptr && work.is_alike &&
                      fleet_.Packs(worker, *work.stepped, work.num_stepped, work.stepped_rows);
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
    found->second.weight = share_.weight(tenant);
  }
  return found->second;
}

double BegunWork::VirtualTime(Tenant& tenant) const {
  if (!tenant.virtual_time) tenant.virtual_time = share_.virtual_time(tenant.name);
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
  for (const auto& [name, worker] : fleet_.workers()) {
    for (const auto& [id, held] : worker.held) {
      const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (job != nullptr) (*unused_)[job->row.tenant] += job->Unused();
    }
  }
}

void BegunWork::Forget(const FleetWorker& worker) {
  work_.erase(&worker);
  unused_.reset();
  for (auto& [name, tenant] : tenants_) tenant.virtual_time = tenant.used = std::nullopt;
}

}  // namespace reel::front
