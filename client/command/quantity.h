// SPDX-License-Identifier: Apache-2.0
// Formats numbers for people, and parses durations.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace reel::client {

std::string HumanBytes(int64_t bytes);               // "1.2 MB"
std::string HumanDuration(absl::Duration duration);  // "350 ms", "4.2 s", "3 m 05 s", "2 h 10 m"
std::string HumanTime(const google::protobuf::Timestamp& time);  // local, "" when unset

absl::Duration FromProto(const google::protobuf::Duration& duration);
google::protobuf::Duration ToProto(absl::Duration duration);

// Parses "90", "90s", "1m30s"; without a unit: seconds. INVALID_ARGUMENT otherwise, also for <= 0.
absl::StatusOr<absl::Duration> ParseDuration(const std::string& text);

}  // namespace reel::client
