// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/parking.h"

#include <algorithm>
#include <utility>

#include "server/logging/log.h"

namespace reel::front {

void Parking::Park(const std::string& id, const std::string& before, bool to_host) {
  ActiveJob& job = jobs_.Get(id);
  Log(LogLevel::kInfo, "A video is parked for another",
      {{"video", id}, {"other", before}, {"worker", job.worker}});
  slots_.Park(job, before, to_host);
}

void Parking::Resume(const std::string& id) {
  ActiveJob& job = jobs_.Get(id);
  slots_.Resume(job);
  progress_.AddAtWorker(job, true);
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
        {{"video", job->id}, {"worker", job->worker}, {"bytes", held->parked_bytes}});
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
