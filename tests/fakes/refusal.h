// SPDX-License-Identifier: Apache-2.0
// Errors as a Reel server makes them, for fakes and for tests of what reads them.
#pragma once

#include <optional>
#include <string>

#include "google/rpc/status.pb.h"

namespace reel::fakes {

// How a call is refused: the status with its details, and the pushback trailer.
struct Refusal {
  google::rpc::Status status;
  std::optional<int> pushback_ms;
};

// A refusal as the server makes it: ErrorInfo with this reason, domain "reel".
Refusal MakeRefusal(int code, const std::string& reason, const std::string& message);
// Adds RetryInfo, or a BadRequest violation.
Refusal& AddRetryInfo(Refusal& refusal, int milliseconds);
Refusal& AddViolation(Refusal& refusal, const std::string& field, const std::string& description);

}  // namespace reel::fakes
