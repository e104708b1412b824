// SPDX-License-Identifier: Apache-2.0
// The end of a job whose frames are all with its encoder. The thread that ends the file reports it
// at that instant: the engine may be in another job's step, which can take as long as a whole short
// video.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
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

// Of a state, in one report.
inline constexpr size_t kStatePieceBytes = size_t{1} << 20;

// The bytes of a state, which have the job's file if they are given it.
using StateWriter = absl::AnyInvocable<std::string(std::string file)>;

// Adds how far the job has come to a failure.
absl::Status JobError(const JobRef& ref, Reason reason, std::string_view message, int steps,
                      int num_steps);

// The end of one job. Whether the engine or the file's thread reports it is decided once. Instants
// are those of SteadyNow. No lock is held during a report.
class FileEnd {
 public:
  // The report, except what the file's end adds.
  struct Success {
    JobRef ref;
    absl::Time deadline;
    int num_frames = 0;
    int num_steps = 0;
    JobFinished finished;
    model::RunClock clock;
    StateWriter state = nullptr;  // that the job leaves, reported before its end; null: none
  };

  // `events` outlives it.
  explicit FileEnd(EngineEvents& events) : events_(events) {}

  // The engine's thread.

  // All frames are with the encoder: from here on the file's thread reports a success.
  void Expect(Success success);
  // From `now` on the job only waits for its encoder; or it has other work again.
  void EngineRests(absl::Time now);
  void EngineMoves(absl::Time now);
  // True: the engine reports the end, now and whenever it asks again. False: the file's thread
  // reports it or has done so.
  bool Claim();

  // The file's thread.

  // The next bytes of a file that is part of its job's state.
  void Keep(std::string_view bytes);
  // Called once. A complete file is a success, or too late. Anything else is
  // left to the engine, which knows what it means.
  void Complete(const absl::StatusOr<EncodedFile>& file, absl::Time now);

 private:
  enum class Teller { kNobody, kEngine, kFile };

  WorkerReport ReportOf(const EncodedFile& file, absl::Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports the state in pieces and describes it in the end. May wait for the front.
  void ReportState(const JobRef& ref, const std::string& state, JobFinished& finished);

  EngineEvents& events_;
  Mutex mutex_;
  Teller teller_ ABSL_GUARDED_BY(mutex_) = Teller::kNobody;
  std::optional<Success> success_ ABSL_GUARDED_BY(mutex_);
  std::string file_;  // what is kept of it; the file's thread only
  std::optional<absl::Time> rests_since_ ABSL_GUARDED_BY(mutex_);
  absl::Duration exposed_ ABSL_GUARDED_BY(mutex_);  // encoding time in which no job moved
};

}  // namespace reel::worker
