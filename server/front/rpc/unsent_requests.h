// SPDX-License-Identifier: Apache-2.0
// Calls whose request has not arrived yet: how many there may be, and for how long. Without this
// bound whoever opens calls and sends nothing fills the memory, 13 KB a call. Free of gRPC.
#pragma once

#include <cstdint>
#include <map>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// A call that waits for its request.
class UnsentRequest {
 public:
  virtual ~UnsentRequest() = default;
  // It is not waited for any longer. Whoever waited must end the call, and may be gone on return.
  virtual void Abandon(const absl::Status& why) = 0;
};

struct UnsentLimits {
  size_t calls = 1000;
  // For the largest request, 3.5 MiB of pictures, over a link of 1 Mbit/s.
  absl::Duration patience = absl::Seconds(30);
};

// Thread-safe. A call beyond the limit takes the place of the one that has waited longest: an
// honest request follows its headers at once, so that a flood of others does not keep it out.
class UnsentRequests {
 public:
  explicit UnsentRequests(UnsentLimits limits = {});
  // Nothing may wait any more.
  ~UnsentRequests();
  UnsentRequests(const UnsentRequests&) = delete;
  UnsentRequests& operator=(const UnsentRequests&) = delete;

  // `call` waits from now on. Returns its ticket.
  int64_t Enter(UnsentRequest& call);
  // The wait is over. False when the call has been abandoned, which then ends it.
  bool Leave(int64_t ticket);
  // The server goes down: whoever waits has little time left.
  void Close();
  size_t count() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    UnsentRequest* call;
    Clock::time_point end;
  };

  void Run();

  const UnsentLimits limits_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<int64_t, Wait> waits_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  int64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
