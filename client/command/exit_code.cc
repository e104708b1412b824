// SPDX-License-Identifier: Apache-2.0
#include "client/command/exit_code.h"

#include "client/error_details.h"

namespace reel::client {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kInvalid;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kResourceExhausted:
      // Without a reason it is this machine's disk or the transport, not a quota.
      return DetailsOf(status).reason.empty() ? ExitCode::kFailed : ExitCode::kQuota;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kDeadline;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return ExitCode::kConflict;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return ExitCode::kUnauthorised;
    default:
      return ExitCode::kFailed;
  }
}

}  // namespace reel::client
