// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/request_turns.h"

#include <utility>

namespace reel::front {

bool RequestTurns::Enter(const Key& key, Turn later) {
  const MutexLock lock(mutex_);
  const auto [found, is_first] = waiting_.try_emplace(key);
  if (!is_first) found->second.push_back(std::move(later));
  return is_first;
}

void RequestTurns::Leave(const Key& key) {
  Turn next;
  {
    const MutexLock lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    if (found->second.empty()) {
      waiting_.erase(found);
      return;
    }
    next = std::move(found->second.front());
    found->second.pop_front();
  }
  next();
}

}  // namespace reel::front
