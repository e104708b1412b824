// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/parking.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "server/front/jobs/run_order.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

Newcomer NewcomerOf(const ActiveJob& job) { return {WaitingOf(job), job.need, job.charged}; }

// As they go there: each is put behind those that are parked before it.
std::vector<std::string> InOrderAt(const FleetWorker& worker, std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
    return worker.held.at(a).order_key < worker.held.at(b).order_key;
  });
  return ids;
}

}  // namespace

bool Parking::IsOver(const FleetWorker& worker, const std::string& id) {
  const auto held = worker.held.find(id);
  if (held == worker.held.end()) return true;
  const ActiveJob* job = jobs_.FindAttempt(id, held->second.attempt);
  return job == nullptr || !job->at_worker() || job->stage >= model::Stage::kEncode;
}

void Parking::ResumeDue() {
  for (const auto& [name, worker] : fleet_.workers()) {
    for (const auto& [id, held] : worker.held) {
      if (!held.parked() || !IsOver(worker, held.parked_for)) continue;
      ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (job == nullptr || !job->at_worker()) continue;
      slots_.Resume(*job);
      progress_.AddAtWorker(*job, true);
    }
  }
}

void Parking::ParkFor(const std::vector<ActiveJob*>& order, Preemption& preemption) {
  std::map<std::string_view, absl::Duration> ahead;  // what waits at each worker, so far
  for (const ActiveJob* job : order) {
    FleetWorker* worker = job->at_worker() ? fleet_.Find(job->worker) : nullptr;
    if (worker == nullptr || !preemption.HasVictims(*worker)) continue;
    absl::Duration& before = ahead[worker->info.name];
    const auto victims = preemption.Victims(NewcomerOf(*job), *worker, before);
    before += job->cost.p90();
    if (victims.empty()) continue;
    // With all that it holds: it got its newcomers on the understanding that others leave.
    const bool is_short = fleet_.AccountOf(*worker).left() < 0;
    Park(InOrderAt(*worker, victims), *job, is_short);
    preemption.Forget(*worker);
  }
  for (const auto& [name, worker] : fleet_.workers()) {
    if (HasSeveralTenants(worker)) ParkCompany(worker, preemption);
  }
}

bool Parking::HasSeveralTenants(const FleetWorker& worker) const {
  const ActiveJob* first = nullptr;
  for (const auto& [id, held] : worker.held) {
    const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
    if (job == nullptr) continue;
    if (first == nullptr) first = job;
    if (job->row.tenant != first->row.tenant) return true;
  }
  return false;
}

void Parking::ParkCompany(const FleetWorker& worker, Preemption& preemption) {
  for (const auto& [id, held] : worker.held) {
    if (held.parked() || !held.started || IsOver(worker, id)) continue;
    const ActiveJob& job = jobs_.Get(id);
    const auto company = preemption.Company(job, worker);
    if (company.empty()) continue;
    Park(InOrderAt(worker, company), job, /*to_host=*/false);
    preemption.Forget(worker);
  }
}

void Parking::Park(const std::vector<std::string>& ids, const ActiveJob& other, bool to_host) {
  for (const std::string& id : ids) {
    Log(LogLevel::kInfo, "A video is parked for another",
        {{"video", id}, {"other", other.id()}, {"worker", other.worker}});
    slots_.Park(jobs_.Get(id), other.id(), to_host);
  }
}

FleetWorker* Parking::MakeRoom(const ActiveJob& job, const Fleet::Passed& passed, const Look& look,
                               bool soon) const {
  for (const auto& [name, worker] : fleet_.workers()) {
    if (!look.preemption.HasVictims(worker)) continue;
    Newcomer newcomer = NewcomerOf(job);
    newcomer.waiting.devices = worker.num_devices();
    if (look.costs.has_several_kinds()) {
      const Cost& there = look.costs.Of(job, worker);
      if (there.observed) newcomer.waiting.predicted = there.p90();
    }
    const auto victims = look.preemption.Victims(newcomer, worker, absl::ZeroDuration(), soon);
    if (victims.empty()) continue;
    Fleet::Passed with = passed;
    with.insert(victims.begin(), victims.end());
    const Fleet::Passed leave(victims.begin(), victims.end());
    if (fleet_.CanTake(worker, job.need, with, leave)) return fleet_.Find(name);
  }
  return nullptr;
}

void Parking::On(const WorkerReport& from, const JobParked& parked) {
  ActiveJob* job = jobs_.FindAttempt(from.ref.job, from.ref.attempt);
  HeldJob* held = fleet_.FindHeld(from.ref.job);
  if (job == nullptr || held == nullptr || !held->parked()) return;
  held->device_bytes = parked.device_bytes;
  held->parked_bytes = std::max(held->parked_bytes, parked.device_bytes);
  if (!held->told_parked) {
    held->told_parked = true;
    ++job->preemptions;
    observer_.JobPreempted();
    progress_.AddAtWorker(*job, true);
  } else if (held->device_bytes == 0) {
    Log(LogLevel::kInfo, "The state of a parked video is in host memory",
        {{"video", job->id()}, {"worker", job->worker}, {"bytes", held->parked_bytes}});
  }
  if (const FleetWorker* worker = fleet_.Find(job->worker)) BoundMemory(*worker);
}

void Parking::BoundMemory(const FleetWorker& worker) {
  const WorkerInfo& info = worker.info;
  if (info.memory.total == 0) return;  // a CPU's is the host's
  int64_t bytes = 0;
  const std::pair<const std::string, HeldJob>* first = nullptr;
  for (const auto& entry : worker.held) {
    const HeldJob& held = entry.second;
    if (!held.parked() || held.to_host) continue;
    bytes += held.device_bytes;
    if (held.device_bytes == 0) continue;
    if (first == nullptr || held.order_key < first->second.order_key) first = &entry;
  }
  // What an allocator only keeps, the next tensors get.
  const int64_t taken = info.memory.outside() + info.memory.in_use - info.memory.kept;
  const bool full =
      static_cast<double>(taken) > kNearlyFull * static_cast<double>(info.memory.total);
  if (first == nullptr || (!full && bytes <= kParkedBytesOnDevice)) return;
  slots_.MoveToHost(jobs_.Get(first->first));
}

}  // namespace reel::front
