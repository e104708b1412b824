// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/file_end.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "kernels/base/digest/sha256.h"
#include "model/pass_state.h"

namespace reel::worker {

absl::Status JobError(const JobRef& ref, Reason reason, std::string_view message, int steps,
                      int num_steps) {
  ErrorDetails details;
  details.metadata["video"] = "videos/" + ref.job;
  details.metadata["steps_done"] = std::to_string(steps);
  details.metadata["num_steps"] = std::to_string(num_steps);
  return MakeError(reason, message, details);
}

void FileEnd::Expect(Success success) {
  MutexLock lock(mutex_);
  success_ = std::move(success);
}

void FileEnd::EngineRests(absl::Time now) {
  MutexLock lock(mutex_);
  rests_since_ = now;
}

void FileEnd::EngineMoves(absl::Time now) {
  MutexLock lock(mutex_);
  if (rests_since_) exposed_ += now - *rests_since_;
  rests_since_.reset();
}

bool FileEnd::Claim() {
  MutexLock lock(mutex_);
  if (teller_ == Teller::kNobody) teller_ = Teller::kEngine;
  return teller_ == Teller::kEngine;
}

// More than a state has room for is not kept in it.
void FileEnd::Keep(std::string_view bytes) {
  if (static_cast<int64_t>(file_.size()) <= model::PassState::kMostFileBytes) file_ += bytes;
}

void FileEnd::Complete(const absl::StatusOr<EncodedFile>& file, absl::Time now) {
  std::optional<WorkerReport> report;
  StateWriter state;
  {
    MutexLock lock(mutex_);
    const bool whole = success_ && file.ok() && file->num_frames == success_->num_frames;
    if (!whole || teller_ != Teller::kNobody) return;
    teller_ = Teller::kFile;
    report = ReportOf(*file, now);
    state = std::exchange(success_->state, nullptr);
  }
  auto* const finished = std::get_if<JobFinished>(&report->event);
  if (finished != nullptr && state) {
    ReportState(report->ref, state(std::move(file_)), *finished);
  }
  events_.Report(*std::move(report));
}

void FileEnd::ReportState(const JobRef& ref, const std::string& state, JobFinished& finished) {
  for (size_t at = 0; at < state.size(); at += kStatePieceBytes) {
    events_.Report(
        {{}, ref, JobState{static_cast<int64_t>(at), state.substr(at, kStatePieceBytes)}});
  }
  finished.state_size_bytes = static_cast<int64_t>(state.size());
  finished.state_sha256 = Sha256Hex(state);
}

WorkerReport FileEnd::ReportOf(const EncodedFile& file, absl::Time now) {
  if (now >= success_->deadline) {
    JobFailed late;
    late.error = JobError(success_->ref, Reason::kDeadlinePassed, kDeadlinePassedText,
                          success_->num_steps, success_->num_steps);
    return {{}, success_->ref, std::move(late)};
  }
  JobFinished& finished = success_->finished;
  const absl::Duration clock_now = now - absl::UnixEpoch();
  finished.stats.parts = success_->clock.Parts(clock_now);
  finished.stats.spans = success_->clock.Spans(clock_now);
  finished.stats.encode_exposed =
      exposed_ + (rests_since_ ? now - *rests_since_ : absl::ZeroDuration());
  finished.media.content_type = file.content_type;
  finished.media.size_bytes = file.size_bytes;
  finished.media.duration = file.duration;
  finished.media.sample_rate = file.sound.sample_rate;
  finished.media.width = file.width;
  finished.media.height = file.height;
  finished.stats.sound = file.sound_stats;
  if (file.is_limited) {
    finished.notices.push_back(
        {.code = "LOUDNESS_LIMITED",
         .message = absl::StrFormat("The sound is at %.1f LUFS: louder, its peaks would exceed "
                                    "-1 dBTP",
                                    file.sound_stats->loudness_lufs.value_or(0))});
  }
  return {{}, success_->ref, std::move(finished)};
}

}  // namespace reel::worker
