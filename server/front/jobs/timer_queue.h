// SPDX-License-Identifier: Apache-2.0
// What is due when, by name. On the monotonic clock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace reel::front {

// Confined to one thread.
class TimerQueue {
 public:
  // Replaces the one of the same name.
  void Set(const std::string& name, absl::Duration due) {
    Clear(name);
    due_[name] = due;
    order_.emplace(due, name);
  }
  void Clear(const std::string& name) {
    const auto found = due_.find(name);
    if (found == due_.end()) return;
    order_.erase({found->second, name});
    due_.erase(found);
  }
  std::optional<absl::Duration> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }
  // Takes out all that is due, in order.
  std::vector<std::string> Take(absl::Duration now) {
    std::vector<std::string> names;
    while (!order_.empty() && order_.begin()->first <= now) {
      names.push_back(order_.begin()->second);
      due_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    return names;
  }

 private:
  std::map<std::string, absl::Duration> due_;
  std::set<std::pair<absl::Duration, std::string>> order_;
};

}  // namespace reel::front
