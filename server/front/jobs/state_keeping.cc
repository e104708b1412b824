// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/state_keeping.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr char kNotKept[] = "STATE_NOT_KEPT";

void TellNotKept(Video& video, const absl::Status& why) {
  Log(LogLevel::kWarning, "The state of a video was not kept",
      {{"video", video.id}, {"error", why}});
  video.notices.push_back(
      {kNotKept, absl::StrCat("The state was not kept, so that no request can go on from this "
                              "video: ",
                              why.message())});
}

bool IsWanted(const Video& video) { return video.spec.keep_state.value_or(false); }

}  // namespace

void StateKeeping::On(const WorkerReport& from, JobState piece) {
  ActiveJob* const job = ports_.jobs.FindAttempt(from.ref.job, from.ref.attempt);
  if (job == nullptr || job->phase() != Phase::kAssigned) return;
  // An attempt begins anew.
  if (piece.offset == 0) job->state.reset();
  if (job->state == nullptr) {
    job->state = std::make_shared<StatePieces>(total_, ports_.options.max_bytes);
  }
  job->state->Add(piece.offset, std::move(piece.bytes));
}

void StateKeeping::End(ActiveJob& job, const JobFinished& finished) {
  if (finished.state_size_bytes <= 0) return job.state.reset();
  if (job.state == nullptr)
    job.state = std::make_shared<StatePieces>(total_, ports_.options.max_bytes);
  job.state->End(finished.state_size_bytes, finished.state_sha256);
}

// Its file takes what it has, not what was reserved for it.
absl::Status StateKeeping::CheckRoom(const ActiveJob& job, int64_t file) const {
  const TenantBytes bytes = ports_.bytes.Of(job.tenant);
  const int64_t room = std::max<int64_t>(bytes.room() + job.reserved_bytes - file, 0);
  if (!bytes.limited() || job.state->size() <= room) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("it has ", job.state->size(),
                   " bytes, and the tenant's limit of stored bytes leaves ", room));
}

void StateKeeping::Keep(const ActiveJob& job, Video video, absl::AnyInvocable<void(Video)> done) {
  if (!IsWanted(video)) return done(std::move(video));
  StateEnd end = StateEnd::kFailed;
  absl::Status why = absl::NotFoundError("its worker left none");
  if (job.state != nullptr) {
    why = job.state->status();
    if (absl::IsResourceExhausted(why)) end = StateEnd::kTooLarge;
    if (why.ok()) {
      why = CheckRoom(job, video.media.size_bytes);
      end = StateEnd::kNoRoom;
    }
  }
  if (!why.ok()) {
    TellNotKept(video, why);
    ports_.observer.StateEnded(end);
    return done(std::move(video));
  }
  const std::shared_ptr<const StatePieces> state = job.state;
  ports_.journal.KeepState(
      job.id, job.epoch, video, state,
      ports_.thread.Here<absl::Status>(
          [this, state, video, done = std::move(done)](const absl::Status& kept) mutable {
            if (kept.ok()) {
              video.kept = KeptState{state->size(), state->sha256()};
            } else {
              TellNotKept(video, kept);
            }
            ports_.observer.StateEnded(kept.ok() ? StateEnd::kKept : StateEnd::kFailed);
            done(std::move(video));
          }));
}

}  // namespace reel::front
