// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/finishing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {

void Finishing::On(const WorkerReport& from, JobFinished finished) {
  const JobRef& ref = from.ref;
  slots_.LetGo(ref.job, ref.attempt);
  ActiveJob* job = state_.jobs.FindAttempt(ref.job, ref.attempt);
  if (job == nullptr) return;
  if (ports_.clock.Monotonic() >= job->deadline) {
    // Its timer is due as well, and was not asked first.
    return endings_.FailByDeadline(*job, JobEvent::kFailed);
  }
  if (!state_.jobs.Apply(*job, JobEvent::kRendered)) return;
  job->stage = model::Stage::kEncode;
  model::RunStats stats = Complete(*job, std::move(finished.stats));
  Count(*job, stats);
  state_.costs.LearnMemory(job->need.shape, finished.memory_bytes);
  states_.End(*job, finished);
  Video video = job->log->Snapshot();
  video.stats = std::move(stats);
  video.media = std::move(finished.media);
  video.notices = std::move(finished.notices);
  ports_.media.Finish(ref.job, ref.attempt,
                      state_.thread.Here<absl::StatusOr<MediaDigest>>(
                          [this, id = job->id, video = std::move(video)](auto digest) mutable {
                            OnDigest(id, std::move(video), digest);
                          }));
}

model::RunStats Finishing::Complete(ActiveJob& job, model::RunStats stats) const {
  const absl::Duration now = ports_.clock.Monotonic();
  stats.queued = std::min(job.started, now) - job.accepted;
  job.clock.Detail(std::exchange(stats.parts, {}), std::exchange(stats.spans, {}));
  stats.first_media_byte = std::min(job.first_media, now) - job.accepted;
  stats.restarts = job.attempt - 1;
  if (stats.device_seconds <= 0) {
    stats.device_seconds = absl::ToDoubleSeconds(stats.text_encode + stats.denoise +
                                                 stats.sound_decode + stats.decode);
  }
  return stats;
}

// What is learned is of the run; what is charged of all devices that it had.
void Finishing::Count(ActiveJob& job, model::RunStats& stats) {
  state_.costs.LearnRun(job.need.shape, stats, job.expected);
  if (job.time_left) {
    ports_.observer.TimeLeftChecked(job.time_left->told,
                                    ports_.clock.Monotonic() - job.time_left->at);
  }
  if (job.expected > absl::ZeroDuration()) {
    const absl::Duration work = WorkOf(stats);
    ports_.observer.EstimateChecked(job.expected, work, work <= job.expected_p90);
  }
  stats.device_seconds *= job.devices;
  slots_.Pay(job, absl::Seconds(stats.device_seconds));
  records_.Charge(job.tenant, absl::Seconds(stats.device_seconds));
}

void Finishing::OnDigest(const std::string& id, Video video,
                         const absl::StatusOr<MediaDigest>& digest) {
  ActiveJob& job = state_.jobs.Get(id);
  absl::Status wrong = digest.status();
  if (digest.ok() && digest->size != video.media.size_bytes) {
    wrong = MakeError(Reason::kWorkerFault,
                      absl::StrCat("The worker sent ", digest->size, " bytes and reported ",
                                   video.media.size_bytes));
  }
  if (digest.ok()) state_.costs.LearnOutput(job.need.shape, digest->size);
  if (wrong.ok()) {
    if (absl::Status room = state_.bytes.Grow(job, digest->size); !room.ok()) {
      return endings_.Fail(job, JobEvent::kSpoiled, std::move(room));
    }
    return states_.Keep(job, std::move(video), [this, id, digest = *digest](Video kept) {
      endings_.Succeed(state_.jobs.Get(id), std::move(kept), digest);
    });
  }
  const Reason reason = ReasonOf(wrong).value_or(Reason::kStoreFull);
  endings_.Fail(job, JobEvent::kSpoiled,
                Endings::ErrorOf(job, reason, std::string(wrong.message())));
}

}  // namespace reel::front
