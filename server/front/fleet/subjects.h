// SPDX-License-Identifier: Apache-2.0
// Names of a fleet's messages, made and read; at the brokers the fleet's root comes before them
// (LogNames). A name tells the video, the kind of message and the epoch. So the broker can keep
// each name to one message, and a key to the kinds that it may write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace reel::front {

// Names of a fleet at the brokers: one stream, and all subjects below one root. Fleets of other
// names share neither.

// Of builds before fleets had names at the brokers.
inline constexpr char kOldStream[] = "REEL";
inline constexpr char kOldSubjects[] = "reel.j.>";

class LogNames {
 public:
  // `fleet`: 1 to 16 of a-z and 0-9.
  explicit LogNames(std::string fleet)
      : fleet_(std::move(fleet)), stream_("REEL_" + fleet_), root_("reel." + fleet_ + ".") {}

  const std::string& fleet() const { return fleet_; }
  const std::string& stream() const { return stream_; }
  // All that is said of videos: what the stream takes in.
  std::string Jobs() const { return root_ + "j.>"; }
  // Nodes' signs of life, which are not stored.
  std::string Beats() const { return root_ + "hb.*"; }
  // Under which the broker tells of what it has stored: this, a dot, and the message's own name.
  std::string Live() const { return root_ + "live"; }

  // A subject as the brokers have it.
  std::string At(std::string_view subject) const { return root_ + std::string(subject); }
  // And back. Empty: it is not this fleet's.
  std::string Within(std::string_view text) const {
    if (text.substr(0, root_.size()) != root_) return "";
    return std::string(text.substr(root_.size()));
  }

 private:
  std::string fleet_, stream_, root_;
};

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
