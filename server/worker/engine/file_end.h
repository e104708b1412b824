// SPDX-License-Identifier: Apache-2.0
// The end of a job whose frames are all with its encoder. The thread that ends the file tells it,
// at that instant: the engine may be in a step of somebody else, which can take as long as a whole
// short video.
#pragma once

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "model/run_clock.h"
#include "server/errors/error.h"
#include "server/protocol/assignment.h"
#include "server/protocol/worker_report.h"
#include "server/worker/engine/engine.h"
#include "server/worker/media/video_encoder.h"

namespace reel::worker {

inline constexpr std::string_view kDeadlinePassedText =
    "The deadline passed while the video was rendered";

// With what a failure tells of how far a job has come.
absl::Status JobError(const JobRef& ref, Reason reason, std::string_view message, int steps,
                      int num_steps);

// Of one job. Who tells its end, the engine or the file's thread, is decided once. Instants are
// those of SteadyNow. No lock is held during a report.
class FileEnd {
 public:
  // All that is to be told but for what the file's end brings.
  struct Success {
    JobRef ref;
    absl::Time deadline;
    int num_frames = 0;
    int num_steps = 0;
    JobFinished finished;
    model::RunClock clock;
  };

  // `events` outlives it.
  explicit FileEnd(EngineEvents& events) : events_(events) {}

  // The engine's thread.

  // All frames are with the encoder: from here on the file's thread tells a success.
  void Expect(Success success);
  // It has nothing to do but to wait, from `now` on; or has something to do again.
  void EngineRests(absl::Time now);
  void EngineMoves(absl::Time now);
  // The end is the engine's to tell, now and whenever it asks again. False: the file's thread tells
  // it, or has told it.
  bool Claim();

  // The file's thread, once: a whole file is a success, or too late. Of all else nothing is told:
  // what it means is the engine's to say.
  void Complete(const absl::StatusOr<EncodedFile>& file, absl::Time now);

 private:
  enum class Teller { kNobody, kEngine, kFile };

  WorkerReport ReportOf(const EncodedFile& file, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  EngineEvents& events_;
  Mutex mutex_;
  Teller teller_ ABSL_GUARDED_BY(mutex_) = Teller::kNobody;
  std::optional<Success> success_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Time> rests_since_ ABSL_GUARDED_BY(mutex_);
  absl::Duration exposed_ ABSL_GUARDED_BY(mutex_);  // of its encoding, when nobody moved
};

}  // namespace reel::worker
