// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/adoption.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"
#include "server/front/scheduling/run_order.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

ActiveJob Revival::Revive(JobRow row, const Video& video, uint64_t after,
                          int64_t condition_bytes) const {
  const absl::Duration now = ports_.clock.Monotonic();
  ActiveJob job(Phase::kQueued);
  job.id = row.id;
  job.tenant = row.tenant;
  job.attempt = row.attempt;
  job.row = std::move(row);
  job.row.video.clear();
  job.priority = video.priority;
  job.log = std::make_shared<LoggedJob>(video, after, ports_.media);
  const absl::Duration asked = video.deadline - video.create_time;
  const absl::Duration left = std::clamp(video.deadline - ports_.clock.Wall(), absl::ZeroDuration(),
                                         std::max(asked, absl::ZeroDuration()));
  job.accepted = job.last_event = job.stage_since = now;
  job.deadline = now + left;
  job.need.model = video.spec.model;
  job.need.worker = video.spec.worker;
  admission_.ExpandProfile(video.spec.kernels, job.need);
  if (const model::ModelCard* card = state_.roster.FindCard(job.need.model)) {
    job.need.shape = ShapeOf(video.spec, *card, Admission::PlanName(job.need));
    // As one that this server has let in itself: else those that come later would be quoted for
    // less than those that a worker holds, and go before them.
    job.need.shape.where = WhereOf(job.need);
    const std::vector<KindCost> kinds = CostsByKind(state_.roster, state_.costs, job.need);
    job.need.shape.where = kinds.front().where;
    job.cost = kinds.front().cost;
    job.devices = kinds.front().devices;
    job.pool = PoolCostOf(state_.roster, kinds);
    job.need.memory_bytes = PeakMemoryOf(state_.roster, state_.costs, job.need);
  }
  job.condition_bytes = condition_bytes;
  Reserve(job, video.spec);
  return job;
}

std::string Revival::WhereOf(const Need& need) const {
  for (const auto& [name, worker] : state_.roster.workers()) {
    if (state_.roster.Suits(worker, need)) return state_.roster.WhereOf(worker, need.model);
  }
  return "";
}

// What was let in stays, though its tenant may have no room for it now.
void Revival::Reserve(ActiveJob& job, const model::GenerationSpec& spec) const {
  WorkShape shape = job.need.shape;
  if (shape.passes.empty()) {
    shape.frames = spec.num_frames;
    shape.frame_pixels = int64_t{spec.width} * spec.height * spec.num_frames;
  }
  const TenantBytes tenant = state_.bytes.Of(job.tenant);
  job.reserved_bytes =
      ReservationFor(state_.costs.Output(shape), job.condition_bytes, tenant).value_or(0);
}

namespace {

JobRow RowOf(const AdoptedJob& adopted) {
  JobRow row;
  row.id = adopted.video.id;
  row.tenant = adopted.video.tenant;
  row.attempt = adopted.attempt;
  row.num_conditions = static_cast<int>(adopted.conditions.size());
  row.create_time = adopted.video.create_time;
  return row;
}

}  // namespace

void Adoption::Adopt(AdoptedJob adopted, Answer<std::shared_ptr<Job>> done) {
  const std::string id = adopted.video.id;
  std::optional<ActiveJob> reserved;
  if (const ActiveJob* const known = state_.jobs.Find(id); known != nullptr) {
    if (known->phase() != Phase::kReserved) {
      return done(absl::UnavailableError("an earlier attempt of the video still ends here"));
    }
    reserved = *known;
    adopted.video.caller_span = reserved->log->Snapshot().caller_span;
    state_.jobs.Remove(id);
  }
  adopted.video.state = VideoState::kQueued;
  adopted.video.attempt = adopted.attempt;
  int64_t condition_bytes = 0;
  for (const auto& blob : adopted.conditions) condition_bytes += static_cast<int64_t>(blob->size());
  const uint64_t after = (adopted.epoch - 1) * kSequencesPerEpoch;
  ActiveJob revived = revival_.Revive(RowOf(adopted), adopted.video, after, condition_bytes);
  revived.epoch = adopted.epoch;
  if (reserved) {
    // No log keeps these: its call, and the time until the log had it, which is part of its bill.
    revived.streamed = reserved->streamed;
    revived.accepted = reserved->accepted;
    revived.clock = reserved->clock;
    revived.told = reserved->told;
  }
  if (revived.cost.observed) {
    revived.expected = revived.cost.p50();
    revived.expected_p90 = revived.cost.p90();
  }
  ActiveJob& job = state_.jobs.Add(std::move(revived));
  WakeTenant(job, state_.jobs.Planned(), state_.share);
  // The disk does all in its order: who reads them finds them, or hears why not.
  if (!adopted.conditions.empty()) {
    ports_.media.PutConditions(id, std::move(adopted.conditions), [](const absl::Status&) {});
  }
  // An earlier attempt here has left its row if the disk was too full to remove it.
  if (adopted.attempt > 1) {
    records_.Remove(id, [](const absl::Status&) {});
  }
  // The log has it: nothing waits for this row but its file's later owner.
  records_.Create(job, [this, id](const absl::Status& created) {
    ActiveJob* stored = state_.jobs.Find(id);
    if (created.ok() || stored == nullptr) return;
    endings_.Fail(*stored, JobEvent::kEnded, created);
  });
  state_.timers.Set({TimerKind::kDeadline, id}, job.deadline);
  TellPlace(job);
  done(std::shared_ptr<Job>(job.log));
}

// What it was quoted; of many that a process finds at its start the next signs of life tell it.
void Adoption::TellPlace(ActiveJob& job) {
  const bool is_new = job.attempt == 1;
  const Outlook outlook =
      job.told || !is_new ? std::exchange(job.told, {}).value_or(Outlook()) : OutlookOf(job);
  progress_.Add(job, true, outlook.position, outlook.wait);
}

Outlook Adoption::OutlookOf(const ActiveJob& job) const {
  const auto all = Foresee(state_.Now(), ports_.clock.Monotonic());
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Outlook& one) { return one.job == &job; });
  return found == all.end() ? Outlook() : *found;
}

void Adoption::Abandon(const std::string& id) {
  ActiveJob* job = state_.jobs.Find(id);
  if (job != nullptr) endings_.Abandon(*job);
}

void Adoption::End(const std::string& id, const absl::Status& why) {
  ActiveJob* job = state_.jobs.Find(id);
  if (job == nullptr) return;
  const std::optional<Reason> reason = ReasonOf(why);
  if (reason == Reason::kOwnerLeft) {
    return endings_.Cancel(*job, *reason, std::string(why.message()));
  }
  if (reason == Reason::kDeadlinePassed) return endings_.FailByDeadline(*job, JobEvent::kEnded);
  endings_.Cancel(*job, Reason::kCancelledByOwner, "The video was cancelled");
}

std::vector<std::string> Adoption::AbandonUnsent() {
  std::vector<std::string> ids;
  for (const auto& [id, job] : state_.jobs) {
    if (job.phase() == Phase::kQueued) ids.push_back(id);
  }
  for (const std::string& id : ids) Abandon(id);
  return ids;
}

}  // namespace reel::front
