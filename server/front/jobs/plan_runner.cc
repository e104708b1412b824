// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/plan_runner.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

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
  HeldJob* held = roster_.FindHeld(from.ref.job);
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
  if (const PlannedWorker* worker = roster_.Find(job->worker)) BoundMemory(*worker);
}

void Parking::BoundMemory(const PlannedWorker& worker) {
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

namespace {

// What the job was adopted with: the state that it begins from, or its conditions.
void Attach(std::vector<MediaStore::Blob> blobs, Assignment& assignment) {
  model::GenerationSpec& spec = assignment.spec;
  if (spec.source) {
    if (blobs.empty()) return;  // its worker refuses it
    assignment.state_size_bytes = static_cast<int64_t>(blobs.front()->size());
    spec.source->state = std::move(blobs.front());
    return;
  }
  for (size_t i = 0; i < blobs.size() && i < spec.conditions.size(); ++i) {
    spec.conditions[i].bytes = std::move(blobs[i]);
  }
}

}  // namespace

// What it takes there counts from here on.
void Assigner::Take(const std::string& id, const std::string& worker) {
  ActiveJob& job = state_.jobs.Get(id);
  PlannedWorker& there = *state_.roster.Find(worker);
  job.held_back = absl::InfiniteDuration();
  std::string where = state_.roster.WhereOf(there, job.need.model);
  if (where != job.need.shape.where) {
    job.need.shape.where = std::move(where);
    job.cost = state_.costs.Predict(job.need.shape);
    job.expected = job.cost.observed ? job.cost.p50() : absl::ZeroDuration();
    job.expected_p90 = job.cost.observed ? job.cost.p90() : absl::ZeroDuration();
  }
  slots_.Take(job, there);
}

void Assigner::HoldBack(const std::string& id) {
  state_.jobs.Get(id).held_back = ports_.clock.Monotonic();
}

void Assigner::Refuse(const std::string& id) {
  ActiveJob& job = state_.jobs.Get(id);
  endings_.Fail(job, JobEvent::kEnded,
                Endings::ErrorOf(job, Reason::kNoDevice,
                                 "Every device that could run the video is out of service"));
}

void Assigner::Send(const std::string& id) {
  ActiveJob& job = state_.jobs.Get(id);
  job.log->Edit([&](Video& video) { video.worker = job.worker; });
  ports_.media.Begin(id, job.attempt);
  if (job.row.num_conditions == 0) return SendWith(id, job.attempt, {});
  ports_.media.ReadConditions(id, job.row.num_conditions,
                              state_.thread.Here<absl::StatusOr<std::vector<MediaStore::Blob>>>(
                                  [this, id, attempt = job.attempt](auto blobs) {
                                    if (blobs.ok()) return SendWith(id, attempt, *std::move(blobs));
                                    ActiveJob* lost = state_.jobs.FindAttempt(id, attempt);
                                    if (lost != nullptr)
                                      endings_.Fail(*lost, JobEvent::kEnded, blobs.status());
                                  }));
}

void Assigner::SendWith(const std::string& id, int attempt,
                        std::vector<MediaStore::Blob> conditions) {
  ActiveJob* job = state_.jobs.FindAttempt(id, attempt);
  const HeldJob* held = state_.roster.FindHeld(id);
  if (job == nullptr || held == nullptr) return;
  Assignment assignment = AssignmentOf(*job, held->order_key);
  const absl::Status found = FindAdapters(state_.roster.FindCard(job->need.model), assignment.spec);
  if (!found.ok()) return endings_.Fail(*job, JobEvent::kEnded, found);
  if (!state_.jobs.Apply(*job, JobEvent::kSent)) return;
  Attach(std::move(conditions), assignment);
  limits_.Renew(job->worker);
  ports_.pool.Assign(job->worker, std::move(assignment));
}

Assignment Assigner::AssignmentOf(const ActiveJob& job, double order_key) const {
  Video video = job.log->Snapshot();
  Assignment assignment;
  assignment.ref = {job.id, job.attempt, std::move(video.trace_id)};
  assignment.spec = std::move(video.spec);
  // A configured profile is known here alone; what it stands for travels.
  assignment.spec.kernels.profile = job.need.profile;
  assignment.spec.kernels.variants = job.need.variants;
  assignment.order_key = order_key;
  assignment.time_left = std::max(job.deadline - ports_.clock.Monotonic(), absl::ZeroDuration());
  assignment.alone = job.need.alone;
  return assignment;
}

namespace {

constexpr size_t kMostLoads = 64;

}  // namespace

void PlanRunner::Run(bool drains) {
  const absl::Duration now = clock_.Monotonic();
  // More plans than jobs and loads mean that an action has changed nothing: the next event asks
  // again.
  size_t plans = 0;
  for (bool more = true; more;) {
    State state = state_.Now();
    state.drains = drains;
    const Actions actions = Plan(state, now);
    for (const Action& action : actions.list) {
      std::visit([this](const auto& one) { CarryOut(one); }, action);
    }
    more = actions.more && ++plans < state.jobs.size() + kMostLoads;
  }
  // Last: what they pass must not begin in between.
  for (const std::string& job : std::exchange(assigned_, {})) assigner_.Send(job);
}

void PlanRunner::CarryOut(const action::Assign& now) {
  assigner_.Take(now.job, now.worker);
  assigned_.push_back(now.job);
}

void PlanRunner::CarryOut(const action::Unload& now) {
  models_.PutOut(now.worker, now.model);
  observer_.ModelPutOut(now.worker);
}

}  // namespace reel::front
