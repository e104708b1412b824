// SPDX-License-Identifier: Apache-2.0
// Exit codes of the reel command.
#pragma once

#include "absl/status/status.h"

namespace reel::client {

// What the reel command leaves with. Scripts rely on them: they never change.
enum class ExitCode : int {
  kOk = 0,
  kUsage = 2,          // the command line
  kInvalid = 3,        // the request, or a file that was named
  kUnavailable = 4,    // no server, or it takes no work now
  kQuota = 5,          // the tenant's, or the server's disk
  kDeadline = 6,       // passed, or cannot be met
  kFailed = 7,         // the video or the server; damaged files; cancelled by somebody else;
                       // stdout could not be written
  kNotFound = 8,       // the video or the model
  kConflict = 9,       // with another request, or with the state that something is in
  kUnauthorised = 10,  // no token, or it does not allow this
  kNoVerdict = 11,     // a comparison found no difference, or has not enough data
  kInterrupted = 130,  // Ctrl-C
};

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace reel::client
