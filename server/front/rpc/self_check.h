// SPDX-License-Identifier: Apache-2.0
// Calls the server from outside, over a new connection each time: gRPC 1.51's listener can be dead
// for good while the process lives, and nothing else would notice.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

struct SelfCheckOptions {
  std::string address;  // as bound
  bool tls = false;
  absl::Duration period = absl::Seconds(5);
  absl::Duration timeout = absl::Seconds(2);
  int misses = 3;  // in a row
  // When the listener last took a connection of anybody's, as far as is known; may be empty. A try
  // that had no answer in time is no miss when it took one meanwhile: it is busy, not dead.
  std::function<std::chrono::steady_clock::time_point()> taken;
  std::function<void()> missed;  // at each miss, on the check's thread; may be empty
};

class SelfCheck {
 public:
  // `failed` is called once, on the check's thread, after `misses` misses in a row.
  SelfCheck(SelfCheckOptions options, std::function<void()> failed);
  ~SelfCheck();
  SelfCheck(const SelfCheck&) = delete;
  SelfCheck& operator=(const SelfCheck&) = delete;

 private:
  void Run();

  const SelfCheckOptions options_;
  const std::function<void()> failed_;
  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// One try: a connection of its own and one Health/Check of "liveness". With TLS, whose certificates
// need not fit a caller from loopback, a connection that ends before its handshake: the server's
// hanging up shows that somebody accepted it.
bool ProbeOnce(const SelfCheckOptions& options);

}  // namespace reel::front
