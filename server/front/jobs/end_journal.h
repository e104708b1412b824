// SPDX-License-Identifier: Apache-2.0
// The interface of the log that takes the end of a job before it counts, since another server may
// have taken the job over. It also has the state kept that a job leaves.
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
  // On the dispatcher's thread; it must not wait. `last_sequence`: of the log's final entry. A
  // success is stored before. `done` comes on any thread, however long it takes. OK: the end
  // counts. CANCELLED: the next process of this server tells it. Anything else: it does not count,
  // since the job is no longer this server's.
  virtual void End(const std::string& id, uint32_t epoch, const Video& video,
                   uint64_t last_sequence, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Before End, likewise. OK: the state is kept, durably, as long as the video and no longer than
  // it says. Otherwise, and where the video is no longer this server's, it is not.
  virtual void KeepState(const std::string& id, uint32_t epoch, const Video& video,
                         std::shared_ptr<const StatePieces> state,
                         absl::AnyInvocable<void(absl::Status)> done) = 0;
};

}  // namespace reel::front
