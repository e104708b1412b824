// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/send_queue.h"

#include <utility>

namespace reel::front {

void SendQueue::Push(const std::string& job, Message message) {
  const bool is_bulk = message.has_condition_data() || message.has_state_data();
  if (is_bulk || waiting_.contains(job)) {
    ++waiting_[job];
    pixels_.push_back({job, std::move(message)});
  } else {
    control_.push_back(std::move(message));
  }
}

std::optional<SendQueue::Message> SendQueue::Pop() {
  if (!control_.empty()) {
    Message message = std::move(control_.front());
    control_.pop_front();
    return message;
  }
  if (pixels_.empty()) return std::nullopt;
  Entry entry = std::move(pixels_.front());
  pixels_.pop_front();
  const auto waiting = waiting_.find(entry.job);
  if (--waiting->second == 0) waiting_.erase(waiting);
  return std::move(entry.message);
}

void SendQueue::Clear() {
  control_.clear();
  pixels_.clear();
  waiting_.clear();
}

}  // namespace reel::front
