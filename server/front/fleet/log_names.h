// SPDX-License-Identifier: Apache-2.0
// Names of a fleet at the brokers: one stream, and all subjects below one root. Fleets of other
// names share neither.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace reel::front {

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

  // A subject of subjects.h as the brokers have it.
  std::string At(std::string_view subject) const { return root_ + std::string(subject); }
  // And back. Empty: it is not this fleet's.
  std::string Within(std::string_view text) const {
    if (text.substr(0, root_.size()) != root_) return "";
    return std::string(text.substr(root_.size()));
  }

 private:
  std::string fleet_, stream_, root_;
};

}  // namespace reel::front
