// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/load_figures.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "server/front/scheduling/worker_table.h"

namespace reel::front {

Load LoadFigures::For(const NewJob& job, const CheckedRequest& request) const {
  Load load = Of(job.tenant);
  if (job.fleet_load) {
    load.of_fleet = true;
    load.queued = job.fleet_load->queued;
    load.tenant_jobs = job.fleet_load->tenant_jobs;
    // Of other servers nobody knows it; what is here says little of when the video would start.
    load.backlog = absl::ZeroDuration();
    load.tenant_backlog = job.fleet_load->tenant_backlog;
    load.fleet_backlog = job.fleet_load->backlog;
    load.fleet_devices = job.fleet_load->devices;
    load.tenant_device_seconds = job.fleet_load->tenant_device_seconds;
    load.outlook.position = load.queued;
    return load;
  }
  const absl::Duration now = ports_.clock.Monotonic();
  const Waiting newcomer = {
      job.tenant, job.priority,     now, now + request.timeout, request.cost.p90(),
      0,          request.devices()};
  const Question question = {{newcomer, request.need, {}}, request.kinds, request.WorkerTime()};
  load.outlook = Foresee(state_.Now(), question, now);
  if (!HasModel(state_.roster, request.need)) {
    const model::ModelCard* card = state_.roster.FindCard(request.need.model);
    bool observed = false;
    load.model_load = state_.costs.LoadTime(request.need.shape,
                                            card == nullptr ? 0 : card->weight_bytes, observed);
    load.guesses_load = !observed;
  }
  return load;
}

Load LoadFigures::Of(const std::string& tenant) const {
  Load load;
  load.draining = state_.drain.closed;
  load.tenant_bytes = state_.bytes.Kept(tenant);
  for (const ActiveJob* job : state_.jobs.all()) {
    const bool is_own = job->tenant == tenant;
    if (is_own) ByteQuota::Add(*job, load.tenant_bytes);
    if (!job->deciding()) continue;
    load.backlog += job->WorkerTime();
    load.queued += job->at_worker() ? 0 : 1;
    if (!is_own) continue;
    ++load.tenant_jobs;
    load.tenant_backlog += job->DeviceLeft();
  }
  load.tenant_device_seconds = state_.ledger.DeviceSecondsOfHour(tenant, ports_.clock.Monotonic());
  load.disk = ports_.media.Usage();
  return load;
}

std::vector<ModelGauges> LoadFigures::Models() const {
  const absl::Duration now = ports_.clock.Monotonic();
  std::map<std::string_view, absl::Duration> oldest;  // acceptance, by model
  for (const auto& [id, job] : state_.jobs) {
    if (!job.waits()) continue;
    absl::Duration& accepted = oldest.try_emplace(job.need.model, job.accepted).first->second;
    accepted = std::min(accepted, job.accepted);
  }
  std::vector<ModelGauges> models;
  for (const std::string& name : state_.roster.served()) {
    ModelGauges model;
    model.name = name;
    model.card = state_.roster.FindCard(name);
    for (const auto& [worker_name, worker] : state_.roster.workers()) {
      model.ready |= worker.info.state == WorkerState::kReady && worker.loaded.contains(name);
    }
    const auto waits = oldest.find(name);
    if (waits != oldest.end()) {
      model.oldest_wait_seconds = absl::ToDoubleSeconds(now - waits->second);
    }
    models.push_back(model);
  }
  return models;
}

QueueGauges LoadFigures::Gauges(double capacity_seconds) const {
  QueueGauges gauges;
  for (const auto& [id, job] : state_.jobs) {
    if (!job.deciding()) continue;
    (job.at_worker() ? gauges.running : gauges.queued) += 1;
    gauges.backlog_seconds += absl::ToDoubleSeconds(job.WorkerTime());
  }
  gauges.capacity_seconds = capacity_seconds;
  gauges.models = Models();
  const DiskUsage disk = ports_.media.Usage();
  gauges.stored_bytes = disk.stored_bytes;
  gauges.stored_limit_bytes = disk.limit_bytes;
  const KeptStates& states = state_.ledger.states();
  gauges.state_bytes = states.sum();
  gauges.states = states.count;
  gauges.expired_states = states.expired;
  gauges.damaged_states = states.damaged;
  for (const auto& [name, tenant] : state_.options.tenants) {
    if (tenant.max_stored_bytes <= 0) continue;
    gauges.tenants.push_back({name, state_.ledger.stored(name), tenant.max_stored_bytes});
  }
  return gauges;
}

}  // namespace reel::front
