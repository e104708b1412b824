// SPDX-License-Identifier: Apache-2.0
// Subjects of a fleet's messages. A subject names the video, the kind of message and the epoch. So
// the broker can limit each subject to one message, and each key to the kinds that it may write. At
// the brokers the fleet's root precedes it (LogNames).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace reel::front {

// A fleet's names at the brokers: one stream, and all subjects below one root. Fleets share
// neither.

// Names used by builds from before fleets had names at the brokers.
inline constexpr char kOldStream[] = "REEL";
inline constexpr char kOldSubjects[] = "reel.j.>";

class LogNames {
 public:
  // `fleet`: 1 to 16 characters of a-z and 0-9.
  explicit LogNames(std::string fleet)
      : fleet_(std::move(fleet)), stream_("REEL_" + fleet_), root_("reel." + fleet_ + ".") {}

  const std::string& fleet() const { return fleet_; }
  const std::string& stream() const { return stream_; }
  // All messages about videos: what the stream stores.
  std::string Jobs() const { return root_ + "j.>"; }
  // Heartbeats, which are not stored.
  std::string Beats() const { return root_ + "hb.*"; }
  // Prefix of the copies that the broker sends of stored messages: this, a dot, and the message's
  // subject.
  std::string Live() const { return root_ + "live"; }

  // The full subject at the brokers.
  std::string At(std::string_view subject) const { return root_ + std::string(subject); }
  // The reverse of At; empty if the subject is not this fleet's.
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
  std::string id;  // video id; for a binding the request id
  LogKind kind = LogKind::kRequest;
  uint32_t epoch = 0;  // for claims and ends, or the number of a binding; from 1, else 0

  bool operator==(const LogSubject&) const = default;
};

// INVALID_ARGUMENT: an illegal tenant or id, or an epoch that is missing or must not be there.
absl::StatusOr<std::string> MakeSubject(const LogSubject& subject);
// INVALID_ARGUMENT for everything that MakeSubject would not return, so that two texts never mean
// the same message.
absl::StatusOr<LogSubject> ParseSubject(std::string_view text);

// Subjects of heartbeats, which are not stored.
absl::StatusOr<std::string> MakeBeatSubject(std::string_view node);
absl::StatusOr<std::string> ParseBeatSubject(std::string_view text);

}  // namespace reel::front
