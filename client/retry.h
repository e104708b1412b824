// SPDX-License-Identifier: Apache-2.0
// Decides which failures to retry, and after what pause.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/client_options.h"
#include "client/stop_signal.h"

namespace reel::client {

// A failed try.
struct Failure {
  absl::Status status;
  // The trailer grpc-retry-pushback-ms: the pause that the server asks for; negative forbids a
  // retry.
  std::optional<absl::Duration> pushback;
};

// True for failures after which a stream can be resumed, caused by the network or a restarting
// server: UNAVAILABLE, and codes that transports make up (without an ErrorInfo).
bool IsBroken(const absl::Status& status);

// True for failures of a call without an answer: UNAVAILABLE, and CANCELLED without an ErrorInfo,
// which gRPC reports for a call to a server that is ending. A caller's own stop looks the same, but
// its `stop` ends the Retrier. Request ids keep a repeated call from rendering twice.
bool MayCallAgain(const absl::Status& status);

// Counts the tries of one call or stream. Used by one thread, except for `stop`, which ends a
// pause.
class Retrier {
 public:
  // `random` in [0, 1) jitters a pause; tests pass a constant.
  Retrier(const RetryOptions& options, StopSignal& stop, double (*random)());

  // Before the first answer. OK after a pause: try again. Otherwise the status to return.
  absl::Status AfterFailedCall(const Failure& failure);
  // The same for a stream under way.
  absl::Status AfterBrokenStream(const Failure& failure);
  // The call progressed: the count of tries starts again.
  void Progress() { failures_ = 0; }

 private:
  absl::Status Pause(const Failure& failure, int limit);

  const RetryOptions& options_;
  StopSignal& stop_;
  double (*const random_)();
  int failures_ = 0;  // tries in a row
};

// Uniform in [0, 1). Thread-safe.
double RandomFraction();

}  // namespace reel::client
