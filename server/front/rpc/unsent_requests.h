// SPDX-License-Identifier: Apache-2.0
// Calls whose request has not arrived yet: how many there may be, and for how long. Without this
// bound whoever opens calls and sends nothing fills the memory, 13 KB a call. Free of gRPC.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

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
  // From a call that was ended to the return of its memory.
  absl::Duration trim_delay = absl::Milliseconds(250);
};

// Gives the system back what has been freed. The heap keeps what ended calls leave between those
// that live: 60,000 of them held 160 MiB, of which 100 were free.
void TrimHeap();

// Thread-safe. A call beyond the limit takes the place of the one that has waited longest on the
// connection where most wait. An honest request follows its headers at once, so calls of other
// connections stay, however many a flood opens.
class UnsentRequests {
 public:
  // `trim` is called on its own thread, after calls have been ended.
  explicit UnsentRequests(UnsentLimits limits = {}, std::function<void()> trim = TrimHeap);
  // Nothing may wait any more.
  ~UnsentRequests();
  UnsentRequests(const UnsentRequests&) = delete;
  UnsentRequests& operator=(const UnsentRequests&) = delete;

  // `call`, which came over `connection`, waits from now on. Returns its ticket.
  int64_t Enter(UnsentRequest& call, const std::string& connection);
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
    std::string connection;
  };
  using Waits = std::map<int64_t, Wait>;

  void Run();
  // Who must make room.
  Waits::iterator Victim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the call.
  UnsentRequest* Remove(Waits::iterator wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteTrim(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TrimLater() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What is to be done now, after waiting until there is something; false at the end.
  bool Next(UnsentRequest*& late, bool& trim);

  const UnsentLimits limits_;
  const std::function<void()> trim_;
  mutable Mutex mutex_;
  CondVar changed_;
  Waits waits_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  // Tickets by connection.
  std::unordered_map<std::string, std::set<int64_t>> connections_ ABSL_GUARDED_BY(mutex_);
  int64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;  // since the last trim
  std::optional<Clock::time_point> trim_at_ ABSL_GUARDED_BY(mutex_);
  int64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 1;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
