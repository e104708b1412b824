// SPDX-License-Identifier: Apache-2.0
// Interface of the log, which confirms a job's end before it counts, since another server may have
// taken the job over. Also keeps the state that a job leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/jobs/video.h"

namespace reel::front {

class EndJournal {
 public:
  virtual ~EndJournal() = default;
  // Called on the dispatcher's thread; must not block. `last_sequence`: of the final entry. A
  // success is stored before. `done` runs on any thread, however late. OK: the end counts.
  // CANCELLED: the next process of this server will report it. Anything else: the job is no longer
  // this server's.
  virtual void End(const std::string& id, uint32_t epoch, const Video& video,
                   uint64_t last_sequence, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Called before End, in the same way. OK: the state is durable, for as long as the video and at
  // most until its own expiry. Otherwise, or if the video is no longer this server's, it is not
  // kept.
  virtual void KeepState(const std::string& id, uint32_t epoch, const Video& video,
                         std::shared_ptr<const StatePieces> state,
                         absl::AnyInvocable<void(absl::Status)> done) = 0;
};

}  // namespace reel::front
