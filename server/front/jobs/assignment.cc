// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/assignment.h"

#include <algorithm>
#include <utility>

namespace reel::front {

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
  FleetWorker& there = *state_.fleet.Find(worker);
  job.held_back = absl::InfiniteDuration();
  std::string where = state_.fleet.WhereOf(there, job.need.model);
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
  const HeldJob* held = state_.fleet.FindHeld(id);
  if (job == nullptr || held == nullptr) return;
  Assignment assignment = AssignmentOf(*job, held->order_key);
  const absl::Status found = FindAdapters(state_.fleet.FindCard(job->need.model), assignment.spec);
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

}  // namespace reel::front
