// SPDX-License-Identifier: Apache-2.0
// Decides which failures to retry, and after which pause.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/client_options.h"
#include "client/stop_signal.h"

namespace reel::client {

// A try that failed.
struct Failure {
  absl::Status status;
  // The trailer grpc-retry-pushback-ms: a pause that the server asks for; negative forbids a retry.
  std::optional<absl::Duration> pushback;
};

// True for what the network or a restarting server did to a stream that can be joined again:
// UNAVAILABLE, and codes that transports make up (they carry no ErrorInfo).
bool IsBroken(const absl::Status& status);

// True for a call that nobody has answered yet: UNAVAILABLE, and CANCELLED without an ErrorInfo.
// The latter is what gRPC makes of a call that reaches a server in its last moment; a caller who
// stops gets it too, and is not kept (`stop` of the Retrier). Requests have ids, so that none of
// them is served twice.
bool MayCallAgain(const absl::Status& status);

// Counts the tries of one call or stream. Confined to one thread but for `stop`, which ends a
// pause.
class Retrier {
 public:
  // `random` in [0, 1) jitters a pause; tests pass a constant.
  Retrier(const RetryOptions& options, StopSignal& stop, double (*random)());

  // Before the first answer. OK after a pause: try again. Else the status to return.
  absl::Status AfterFailedCall(const Failure& failure);
  // Of a stream under way. The same.
  absl::Status AfterBrokenStream(const Failure& failure);
  // The call got further than ever: patience begins anew.
  void Progress() { failures_ = 0; }

 private:
  absl::Status Pause(const Failure& failure, int limit);

  const RetryOptions& options_;
  StopSignal& stop_;
  double (*const random_)();
  int failures_ = 0;  // in a row
};

// Uniform in [0, 1). Thread-safe.
double RandomFraction();

}  // namespace reel::client
