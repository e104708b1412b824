// SPDX-License-Identifier: Apache-2.0
// How jobs end. Whichever end is decided first stands; it is durable before anybody sees it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"
#include "server/logging/log.h"

namespace reel::front {

void Scheduler::Cancel(const std::string& tenant, const std::string& id, Answer<Video> done) {
  ActiveJob* job = FindActive(id);
  if (job != nullptr && job->row.tenant == tenant && job->phase != Phase::kCreating) {
    Video before = job->log->Snapshot();
    End(*job, VideoState::kCancelled,
        EndError(*job, Reason::kCancelledByOwner, "The video was cancelled"));
    return done(std::move(before));
  }
  Find(tenant, id, [done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> found) mutable {
    if (!found.ok()) return done(found.status());
    done((*found)->Snapshot());
  });
}

void Scheduler::Leave(const std::string& id, LeaveReason reason) {
  ActiveJob* job = FindActive(id);
  if (job == nullptr || !job->row.bound || job->bound_calls == 0) return;
  if (--job->bound_calls > 0) return;
  if (reason == LeaveReason::kDeadline) return EndByDeadline(*job);
  End(*job, VideoState::kCancelled,
      EndError(*job, Reason::kOwnerLeft,
               reason == LeaveReason::kSlowReader
                   ? "The last call on the video was cut, since it read nothing for too long"
                   : "The last call on the video has left"));
}

void Scheduler::EndByDeadline(ActiveJob& job) {
  End(job, VideoState::kFailed,
      EndError(job, Reason::kDeadlinePassed,
               absl::StrCat("The deadline passed after so many steps: ", job.step, " of ",
                            job.need.shape.steps())));
}

void Scheduler::End(ActiveJob& job, VideoState state, absl::Status error) {
  if (!job.deciding()) return;
  const std::string id = job.id();
  if (job.phase == Phase::kAssigned) {
    if (HeldJob* held = fleet_.FindHeld(id)) held->cancelled_at = now();
    parts_.pool.Cancel(job.worker, id);
  } else if (job.phase == Phase::kFetching) {
    fleet_.Release(id, job.row.attempt);  // nothing was sent, so nothing will be reported
  }
  Unassign(job);
  job.phase = Phase::kEnding;
  parts_.media.Remove(id, job.row.attempt, nullptr);
  parts_.media.RemoveConditions(id, job.row.num_conditions);

  Video video = job.log->Snapshot();
  video.state = state;
  video.attempt = job.row.attempt;
  video.error = std::move(error);
  video.end_time = wall();
  video.expire_time = wall() + options_.keep_failed;
  job.row.state = static_cast<RowState>(state);
  job.row.expire_time = video.expire_time;
  job.row.num_conditions = 0;
  job.row.request_id.clear();  // may be used again
  JobRow row = job.row;
  row.video = parts_.serializer.Serialize(video);
  parts_.store.Update(
      std::move(row), Durability::kSynced,
      Here<absl::Status>([this, id, video = std::move(video)](absl::Status saved) mutable {
        OnEnded(id, std::move(video), 0, std::move(saved));
      }));
}

void Scheduler::JobFinished(const std::string& id, int attempt, model::RunStats stats,
                            model::MediaInfo media, std::vector<model::Notice> notices) {
  const auto held = fleet_.Release(id, attempt);
  if (held && held->cancelled_at) parts_.observer.CancelDone(now() - *held->cancelled_at);
  ActiveJob* job = FindAttempt(id, attempt);
  if (job == nullptr || job->phase != Phase::kAssigned) return Pump();
  job->phase = Phase::kFinishing;
  job->stage = model::Stage::kEncode;
  const absl::Duration run = now() - std::min(job->started, now());
  stats.queued = std::min(job->started, now()) - job->accepted;
  stats.total = now() - job->accepted;
  stats.first_media_byte = std::min(job->first_media, now()) - job->accepted;
  stats.restarts = attempt - 1;
  if (stats.device_seconds <= 0) {
    stats.device_seconds = absl::ToDoubleSeconds(stats.text_encode + stats.denoise + stats.decode);
  }
  costs_.LearnRun(job->need.shape, stats);
  share_.Charge(job->row.tenant, absl::Seconds(stats.device_seconds) - job->charged);
  job->charged = absl::ZeroDuration();
  ledger_.AddDeviceSeconds(job->row.tenant, stats.device_seconds, now());
  if (job->expected > absl::ZeroDuration()) {
    parts_.observer.EstimateChecked(job->expected, run, run <= job->expected_p90);
  }
  Video video = job->log->Snapshot();
  video.stats = std::move(stats);
  video.media = std::move(media);
  video.notices = std::move(notices);
  parts_.media.Finish(
      id, attempt,
      Here<absl::StatusOr<MediaDigest>>([this, id, video = std::move(video)](auto digest) mutable {
        OnDigest(id, std::move(video), std::move(digest));
      }));
  Pump();
}

void Scheduler::OnDigest(const std::string& id, Video video, absl::StatusOr<MediaDigest> digest) {
  ActiveJob& job = jobs_.at(id);
  absl::Status wrong = digest.status();
  if (digest.ok() && digest->size != video.media.size_bytes) {
    wrong = MakeError(Reason::kWorkerFault,
                      absl::StrCat("The worker reported another size than it sent: ",
                                   video.media.size_bytes, " of ", digest->size));
  }
  if (!wrong.ok()) {
    job.phase = Phase::kRestarting;  // undecided once more
    const Reason reason = ReasonOf(wrong).value_or(Reason::kStoreFull);
    return End(job, VideoState::kFailed, EndError(job, reason, std::string(wrong.message())));
  }
  video.media.size_bytes = digest->size;
  video.media.sha256 = digest->sha256;
  video.state = VideoState::kSucceeded;
  video.end_time = wall();
  video.expire_time = wall() + options_.keep;
  video.progress.stage = model::Stage::kEncode;
  video.progress.step = video.progress.num_steps;
  video.progress.fraction = 1;
  video.progress.remaining = absl::ZeroDuration();
  parts_.media.RemoveConditions(id, job.row.num_conditions);
  job.row.state = RowState::kSucceeded;
  job.row.expire_time = video.expire_time;
  job.row.num_conditions = 0;
  job.row.media_bytes = digest->size;
  job.row.fragment_ends = job.log->fragment_ends();
  const uint64_t sequence = job.log->TakeSequence();
  job.row.last_sequence = sequence;
  job.row.reserved_sequence = std::max(job.row.reserved_sequence, sequence);
  JobRow row = job.row;
  row.video = parts_.serializer.Serialize(video);
  parts_.store.Update(std::move(row), Durability::kSynced,
                      Here<absl::Status>([this, id, sequence,
                                          video = std::move(video)](absl::Status saved) mutable {
                        OnEnded(id, std::move(video), sequence, std::move(saved));
                      }));
}

void Scheduler::OnEnded(const std::string& id, Video video, uint64_t sequence, absl::Status saved) {
  ActiveJob& job = jobs_.at(id);
  if (!saved.ok()) {
    Log(LogLevel::kError, "The end of a video could not be stored",
        {{"video", id}, {"error", saved}});
    if (video.state == VideoState::kSucceeded) {
      parts_.media.Remove(id, job.row.attempt, nullptr);
      video.state = VideoState::kFailed;
      const Reason reason = ReasonOf(saved).value_or(Reason::kInternal);
      video.error = EndError(job, reason, "The finished video could not be stored");
      video.media = {};
      video.expire_time = video.end_time + options_.keep_failed;
    }
    KeepUnsaved(job, video);
  }
  if (video.state == VideoState::kSucceeded) {
    ledger_.AddStored(job.row.tenant, job.row.media_bytes);
  }
  const RequestKey key{job.row.tenant, video.request_id};
  const bool detached = !job.row.bound;
  timers_.Clear("deadline " + id);
  timers_.Clear("rejoin " + id);
  // Counted before it is seen: who saw the end finds it in the metrics.
  parts_.observer.JobEnded(video, detached);
  const std::shared_ptr<LoggedJob> log = job.log;
  jobs_.erase(id);
  log->End(std::move(video), sequence);
  if (!key.second.empty()) {
    requests_[key].job.clear();
    ServeRequest(key);
  }
  Pump();
  CheckDrained();
}

// The row still says that the job is live; what it should say is kept until the store takes it.
void Scheduler::KeepUnsaved(const ActiveJob& job, const Video& video) {
  JobRow row = job.row;
  row.state = static_cast<RowState>(video.state);
  row.expire_time = video.expire_time;
  row.request_id.clear();
  row.last_sequence = 0;
  row.media_bytes = 0;
  row.fragment_ends.clear();
  row.video = parts_.serializer.Serialize(video);
  unsaved_[row.id] = std::move(row);
}

void Scheduler::SaveUnsaved() {
  for (const auto& [id, row] : unsaved_) {
    parts_.store.Update(row, Durability::kSynced,
                        Here<absl::Status>([this, id = id](const absl::Status& saved) {
                          if (saved.ok()) unsaved_.erase(id);
                        }));
  }
}

const JobRow& Scheduler::Latest(const JobRow& row) const {
  const auto found = unsaved_.find(row.id);
  return found == unsaved_.end() ? row : found->second;
}

}  // namespace reel::front
