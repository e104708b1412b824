// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/endings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/run_clock.h"
#include "server/errors/error.h"
#include "server/logging/log.h"
#include "server/logging/tenant_hash.h"

namespace reel::front {
namespace {

// As reel_requests_total has them.
std::string_view Outcome(const Video& video, std::optional<Reason> reason) {
  if (video.state == VideoState::kSucceeded) return "ok";
  if (reason == Reason::kDeadlinePassed) return "deadline";
  return video.state == VideoState::kCancelled ? "cancelled" : "failed";
}

// "grain x 0.5, turn x 1"; the names are the configuration's.
std::string AdaptersText(const model::GenerationSpec& spec) {
  return absl::StrJoin(spec.adapters, ", ",
                       [](std::string* text, const model::RequestAdapter& adapter) {
                         absl::StrAppend(text, adapter.name, " x ", adapter.scale.value_or(1));
                       });
}

// The steps that were made, which are fewer for a refined clip. Without statistics the steps that
// were asked for.
int StepsOf(const Video& video) {
  const int made = video.stats ? video.stats->full_steps + video.stats->reused_steps : 0;
  return made > 0 ? made : video.spec.num_steps();
}

}  // namespace

std::vector<Field> EndFields(const Video& video) {
  const std::optional<Reason> reason = ReasonOf(video.error);
  const model::GenerationSpec& spec = video.spec;
  std::vector<Field> fields = {
      {"video", video.id},
      {"request_id", video.request_id},
      {"trace_id", video.trace_id},
      {"tenant", TenantHash(video.tenant)},
      {"worker", video.worker},
      {"model", spec.model},
      {"shape", absl::StrCat(spec.width, "x", spec.height, "x", spec.num_frames)},
      {"steps", StepsOf(video)},
      {"outcome", Outcome(video, reason)},
      {"reason", reason ? Describe(*reason).name : std::string_view()},
      {"attempt", video.attempt},
  };
  if (!spec.adapters.empty()) fields.emplace_back("adapters", AdaptersText(spec));
  if (!video.stats) return fields;
  const model::RunStats& stats = *video.stats;
  fields.emplace_back("duration", stats.total);
  fields.emplace_back("device_seconds", stats.device_seconds);
  if (stats.energy_joules) fields.emplace_back("energy_joules", *stats.energy_joules);
  fields.emplace_back("mean_batch", stats.mean_batch);
  fields.emplace_back("preemptions", stats.preemptions);
  for (const model::PartTime& part : stats.parts) {
    fields.emplace_back(model::PartName(part.part), part.time);
  }
  return fields;
}

void LogEnd(const Video& video) { Log(LogLevel::kInfo, "A video ended", EndFields(video)); }

absl::Status Endings::ErrorOf(const ActiveJob& job, Reason reason, std::string_view message) {
  return MakeError(reason, message,
                   {.metadata = {{"video", absl::StrCat("videos/", job.id)},
                                 {"steps_done", absl::StrCat(job.step)},
                                 {"steps", absl::StrCat(job.need.shape.steps())}}});
}

void Endings::Cancel(ActiveJob& job, Reason reason, std::string_view message) {
  End(job, JobEvent::kEnded, VideoState::kCancelled, ErrorOf(job, reason, message));
}

void Endings::Fail(ActiveJob& job, JobEvent event, absl::Status error) {
  End(job, event, VideoState::kFailed, std::move(error));
}

void Endings::FailByDeadline(ActiveJob& job, JobEvent event) {
  Fail(job, event,
       ErrorOf(job, Reason::kDeadlinePassed,
               absl::StrCat("The deadline passed after step ", job.step, " of ",
                            job.need.shape.steps())));
}

void Endings::End(ActiveJob& job, JobEvent event, VideoState state, absl::Status error) {
  model::RunStats bill = Bill(job);
  if (!slots_.Leave(job, event)) return;
  records_.Charge(job.tenant, absl::Seconds(bill.device_seconds));
  const std::string id = job.id;
  ports_.media.Remove(id, job.attempt, nullptr);
  ports_.media.RemoveConditions(id, job.row.num_conditions);
  // Its end still has to be written; another video of its tenant need not fail for that.
  job.reserved_bytes = 0;
  job.condition_bytes = 0;

  const absl::Time wall = ports_.clock.Wall();
  Video video = job.log->Snapshot();
  video.state = state;
  video.attempt = job.attempt;
  video.error = std::move(error);
  video.stats = std::move(bill);
  video.end_time = wall;
  video.expire_time = wall + state_.options.keep_failed;
  Write(job, video, 0);
}

void Endings::Write(ActiveJob& job, const Video& video, uint64_t sequence) {
  const std::string id = job.id;
  journal_.End(
      id, job.epoch, video, sequence,
      state_.thread.Here<absl::Status>([this, id, video, sequence](const absl::Status& counts) {
        ActiveJob& ended = state_.jobs.Get(id);
        if (absl::IsCancelled(counts)) return Leave(ended);
        if (!counts.ok()) return Forget(ended);
        OnEnded(ended, video, sequence);
      }));
}

// The next process finds it, should this one die before its log has it.
void Endings::StoreResult(ActiveJob& job, const RowSucceeded& event, const Video& video) {
  records_.Record(job, event, video,
                  [this, id = job.id, video = video,
                   sequence = event.sequence](const absl::Status& saved) mutable {
                    ActiveJob& stored = state_.jobs.Get(id);
                    if (!saved.ok()) FailResult(stored, video, saved);
                    Write(stored, video, saved.ok() ? sequence : 0);
                  });
}

void Endings::Abandon(ActiveJob& job) {
  if (slots_.Leave(job, JobEvent::kEnded)) Forget(job);
}

void Endings::Forget(ActiveJob& job) {
  const std::string id = job.id;
  Log(LogLevel::kWarning, "A video is another server's now", {{"video", id}});
  state_.timers.Clear({TimerKind::kDeadline, id});
  ports_.media.Remove(id, job.attempt, nullptr);
  ports_.media.RemoveConditions(id, job.row.num_conditions);
  records_.Remove(id, [](const absl::Status&) {});
  state_.jobs.Remove(id);
}

void Endings::Leave(ActiveJob& job) {
  state_.timers.Clear({TimerKind::kDeadline, job.id});
  state_.jobs.Remove(job.id);
}

model::RunStats Endings::Bill(const ActiveJob& job) const {
  model::RunStats stats;
  stats.device_seconds = absl::ToDoubleSeconds(job.Used());
  stats.queued = std::min(job.started, ports_.clock.Monotonic()) - job.accepted;
  stats.restarts = job.attempt - 1;
  Close(job, stats);
  return stats;
}

void Endings::Close(const ActiveJob& job, model::RunStats& stats) const {
  const absl::Duration now = ports_.clock.Monotonic();
  stats.total = now - job.accepted;
  stats.parts = job.clock.Parts(now);
  stats.spans = job.clock.Spans(now);
  stats.preemptions = job.preemptions;
}

void Endings::Succeed(ActiveJob& job, Video video, const MediaDigest& digest) {
  const absl::Time wall = ports_.clock.Wall();
  if (video.stats) Close(job, *video.stats);
  video.media.size_bytes = digest.size;
  video.media.sha256 = digest.sha256;
  video.state = VideoState::kSucceeded;
  video.end_time = wall;
  video.expire_time = wall + state_.options.keep;
  if (video.kept) {
    video.kept->expire_time = std::min(wall + state_.options.state.max_age, video.expire_time);
  }
  video.progress.stage = model::Stage::kEncode;
  video.progress.step = video.progress.num_steps;
  video.progress.fraction = 1;
  video.progress.remaining = absl::ZeroDuration();
  const std::string id = job.id;
  ports_.media.RemoveConditions(id, job.row.num_conditions);
  const uint64_t sequence = job.log->TakeSequence();
  StoreResult(job,
              {video.expire_time, digest.size, job.log->fragment_ends(), sequence, digest.blocks},
              video);
}

void Endings::OnEnded(ActiveJob& job, Video video, uint64_t sequence) {
  const std::string id = job.id;
  if (video.state == VideoState::kSucceeded) {
    state_.removals.Watch(id, job.log);
    state_.ledger.AddStored(job.tenant, job.row.media_bytes);
  } else {
    records_.Record(job, RowFailed{video.state, video.expire_time}, video, nullptr);
  }
  state_.timers.Clear({TimerKind::kDeadline, id});
  // Counted before it is seen: who saw the end finds it in the metrics.
  ports_.observer.JobEnded(video, !job.streamed);
  if (listener_ != nullptr) listener_->JobEnded(video, !job.streamed);
  state_.experiments.Ended(video);
  state_.shadow_queue.Ended(video);
  const std::string& experiment = video.spec.kernels.experiment;
  if (const auto ratio = state_.experiments.StepRatio(experiment)) {
    ports_.observer.StepsCompared(experiment, *ratio);
  }
  LogEnd(video);
  const std::shared_ptr<LoggedJob> log = job.log;
  state_.jobs.Remove(id);
  log->End(std::move(video), sequence);
}

void Endings::FailResult(ActiveJob& job, Video& video, const absl::Status& saved) {
  Log(LogLevel::kError, "A finished video could not be stored",
      {{"video", job.id}, {"error", saved}});
  ports_.media.Remove(job.id, job.attempt, nullptr);
  video.state = VideoState::kFailed;
  const Reason reason = ReasonOf(saved).value_or(Reason::kInternal);
  video.error = ErrorOf(job, reason, "The finished video could not be stored");
  video.media = {};
  video.kept.reset();
  video.expire_time = video.end_time + state_.options.keep_failed;
}

}  // namespace reel::front
