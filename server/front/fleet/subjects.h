// SPDX-License-Identifier: Apache-2.0
// Names of a fleet's messages, made and read; at the brokers the fleet's root comes before them
// (log_names.h). A name tells the video, the kind of message and the epoch. So the broker can keep
// each name to one message, and a key to the kinds that it may write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace reel::front {

enum class LogKind { kRequest, kClaim, kFinish, kCancel, kBinding, kDelete };

struct LogSubject {
  std::string tenant;
  std::string id;  // of the video; of a binding: the request id
  LogKind kind = LogKind::kRequest;
  uint32_t epoch = 0;  // of claims and ends, or which binding of its request id; from 1, else 0

  bool operator==(const LogSubject&) const = default;
};

// INVALID_ARGUMENT: a tenant or an id that is no name, or an epoch where none belongs or the
// reverse.
absl::StatusOr<std::string> MakeSubject(const LogSubject& subject);
// INVALID_ARGUMENT: whatever MakeSubject would not have made; two texts never mean the same
// message.
absl::StatusOr<LogSubject> ParseSubject(std::string_view text);

// Of nodes' signs of life, which are not stored.
absl::StatusOr<std::string> MakeBeatSubject(std::string_view node);
absl::StatusOr<std::string> ParseBeatSubject(std::string_view text);

}  // namespace reel::front
