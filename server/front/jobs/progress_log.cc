// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/progress_log.h"

#include <algorithm>

#include "server/front/scheduling/forecast.h"

namespace reel::front {
namespace {

// Of the way, where the time left is held against what comes.
constexpr double kJudgedFraction = 0.2;

}  // namespace

ProgressLog::ProgressLog(WorkerRoster& roster, const Clock& clock)
    : roster_(roster), clock_(clock) {}

void ProgressLog::AddAtWorker(ActiveJob& job, bool keep) {
  const AtWorker there = PlaceAtWorker(job);
  Add(job, keep, there.parked ? std::max(1, there.jobs) : 0, there.ahead);
}

// What its worker does before it: jobs with lower keys, unless all are packed into one step. Of one
// that is parked what it is parked for and what runs, but nothing that has not begun.
ProgressLog::AtWorker ProgressLog::PlaceAtWorker(const ActiveJob& job) {
  AtWorker there;
  const PlannedWorker* worker = roster_.Find(job.worker);
  if (worker == nullptr) return there;
  const auto own = worker->held.find(job.id);
  if (own == worker->held.end()) return there;
  there.parked = own->second.parked();
  int64_t rows = 0;
  for (const auto& [id, held] : worker->held) {
    rows += roster_.RowsTaken(held.shape);
    const bool waits = there.parked && !held.started && id != own->second.parked_for;
    if (held.order_key >= own->second.order_key || waits) continue;
    there.ahead += held.left;
    ++there.jobs;
  }
  const auto place = static_cast<size_t>(there.jobs) + 1;
  if (!there.parked && roster_.Packs(*worker, own->second.shape, place, rows)) {
    there.ahead = absl::ZeroDuration();
  }
  return there;
}

void ProgressLog::Add(ActiveJob& job, bool keep, int position, absl::Duration ahead) {
  const Cost& cost = job.cost;
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration total = std::max(cost.p50(), absl::Milliseconds(1));
  absl::Duration left = job.phase() == Phase::kAssigned ? cost.Left(job.step) : cost.p50();
  const absl::Duration in_stage = now - job.stage_since;
  const bool decodes = job.stage == model::Stage::kSound || job.stage == model::Stage::kDecode;
  if (decodes) left = std::max(cost.decode - in_stage, total / 50);
  if (job.stage == model::Stage::kEncode) left = total / 100;
  Progress progress;
  const HeldJob* held = job.at_worker() ? roster_.FindHeld(job.id) : nullptr;
  const bool moves = job.at_worker() && (held == nullptr || !held->parked());
  progress.stage = moves ? job.stage : model::Stage::kQueue;
  progress.step = job.step;
  progress.num_steps = job.need.shape.steps();
  progress.fraction = 1 - absl::FDivDuration(left, total);
  if (job.stage == model::Stage::kQueue) progress.fraction = 0;
  progress.remaining = left + std::max(ahead, absl::ZeroDuration());
  progress.queue_position = position;
  if (!job.time_left && job.at_worker() && cost.observed && progress.fraction >= kJudgedFraction) {
    job.time_left = {progress.remaining, now};
  }
  job.last_event = now;
  job.log->AddProgress(clock_.Wall(), progress, keep);
}

namespace {

constexpr absl::Duration kLongestPeriod = absl::Seconds(1);
constexpr absl::Duration kShortestPeriod = absl::Milliseconds(10);

}  // namespace

absl::Duration Heartbeats::period() const {
  return std::clamp(state_.options.heartbeat / 4, kShortestPeriod, kLongestPeriod);
}

void Heartbeats::Beat() {
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration silent_since = now - (state_.options.heartbeat - period());
  for (const Outlook& outlook : Foresee(state_.Now(), now)) {
    if (outlook.job->at_worker()) continue;
    ActiveJob& job = state_.jobs.Get(outlook.job->id);
    const bool moved = job.log->queue_position() != outlook.position;
    if (moved || job.last_event <= silent_since) {
      progress_.Add(job, false, outlook.position, outlook.wait);
    }
  }
  for (auto& [id, job] : state_.jobs) {
    // While an end is being written its number is taken: nothing may follow it.
    if (job.at_worker() && job.last_event <= silent_since) progress_.AddAtWorker(job, false);
  }
}

}  // namespace reel::front
