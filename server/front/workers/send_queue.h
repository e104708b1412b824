// SPDX-License-Identifier: Apache-2.0
// Messages that wait to be sent to one worker. Control overtakes pixels and states, but never those
// of its own job: a Cancel cannot arrive before the Assign that it cancels.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "reel/worker/v1/worker.pb.h"

namespace reel::front {

// Not thread-safe; its owner has a lock.
class SendQueue {
 public:
  using Message = worker::v1::AttachResponse;

  // Empty `job`: concerns none.
  void Push(const std::string& job, Message message);
  std::optional<Message> Pop();
  void Clear();

 private:
  struct Entry {
    std::string job;
    Message message;
  };
  std::deque<Message> control_;
  std::deque<Entry> pixels_;  // and states, and whatever belongs to a job of which some wait
  std::unordered_map<std::string, int> waiting_;  // entries of pixels_ by job
};

}  // namespace reel::front
