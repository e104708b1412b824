// SPDX-License-Identifier: Apache-2.0
// Reads the google.rpc details of a server's error, which this library's absl::Status values carry
// as payloads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reel::client {

struct FieldViolation {
  std::string field;        // path in the request, e.g. "spec.width"
  std::string description;  // value, rule and nearest legal value
  std::string reason = {};  // stable, UPPER_SNAKE_CASE; of adapters alone
};

struct ErrorDetails {
  std::string reason;                           // stable, UPPER_SNAKE_CASE; empty: not from Reel
  std::string domain;                           // "reel"
  std::map<std::string, std::string> metadata;  // the variables of the message
  std::vector<FieldViolation> violations;       // of an INVALID_ARGUMENT, all of them
  std::vector<std::string> failures;            // of quotas and preconditions: "subject: why"
  std::optional<absl::Duration> retry_after;    // when a retry is welcome
  std::string resource_type, resource_name;
};

// All empty if the status has no details.
ErrorDetails DetailsOf(const absl::Status& status);

// Makes a status from the parts of a google.rpc.Status, from gRPC's trailers or from `Video.error`.
// `serialized` may be empty or damaged: then it has code and message only.
absl::Status MakeStatus(int code, const std::string& message, const std::string& serialized);

}  // namespace reel::client
