// SPDX-License-Identifier: Apache-2.0
#include "client/retry.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "client/error_details.h"

namespace reel::client {

bool IsBroken(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return true;
    case absl::StatusCode::kCancelled:  // by the server, for a reader that was too slow
    case absl::StatusCode::kInternal:   // RST_STREAM
    case absl::StatusCode::kUnknown:
      return DetailsOf(status).reason.empty();
    default:
      return false;
  }
}

bool MayCallAgain(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kUnavailable) return true;
  return status.code() == absl::StatusCode::kCancelled && DetailsOf(status).reason.empty();
}

Retrier::Retrier(const RetryOptions& options, StopSignal& stop, double (*random)())
    : options_(options), stop_(stop), random_(random) {}

absl::Status Retrier::AfterFailedCall(const Failure& failure) {
  if (!MayCallAgain(failure.status)) return failure.status;
  return Pause(failure, options_.max_attempts - 1);
}

absl::Status Retrier::AfterBrokenStream(const Failure& failure) {
  if (!IsBroken(failure.status)) return failure.status;
  return Pause(failure, options_.max_resumes);
}

absl::Status Retrier::Pause(const Failure& failure, int limit) {
  if (stop_.stopped() || failures_ >= limit) return failure.status;
  const double growth = std::pow(2.0, failures_);
  ++failures_;
  absl::Duration pause = std::min(options_.initial_backoff * growth, options_.max_backoff);
  pause *= 0.8 + 0.4 * random_();
  const auto asked = failure.pushback ? failure.pushback : DetailsOf(failure.status).retry_after;
  if (asked) {
    if (*asked < absl::ZeroDuration() || *asked > options_.max_server_delay) return failure.status;
    pause = std::max(pause, *asked);
  }
  if (options_.on_retry) options_.on_retry(failure.status, pause);
  return stop_.Sleep(pause) ? absl::OkStatus() : failure.status;
}

double RandomFraction() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.0, 1.0)(generator);
}

}  // namespace reel::client
