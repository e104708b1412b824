// SPDX-License-Identifier: Apache-2.0
// Exit codes of the reel command.
#pragma once

#include "absl/status/status.h"

namespace reel::client {

// The exit codes. Scripts rely on them: they never change.
enum class ExitCode : int {
  kOk = 0,
  kUsage = 2,          // bad command line
  kInvalid = 3,        // invalid request or file
  kUnavailable = 4,    // no server, or it accepts no work now
  kQuota = 5,          // the tenant's quota, or the server's disk is full
  kDeadline = 6,       // passed, or cannot be met
  kFailed = 7,         // the video or the server; damaged files; cancelled by somebody else;
                       // stdout could not be written
  kNotFound = 8,       // no such video or model
  kConflict = 9,       // with another request, or with something's state
  kUnauthorised = 10,  // no token, or a token without this right
  kNoVerdict = 11,     // a comparison found no difference, or has too little data
  kInterrupted = 130,  // Ctrl-C
};

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace reel::client
