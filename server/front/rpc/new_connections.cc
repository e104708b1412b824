// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/new_connections.h"

namespace reel::front {
namespace {

constexpr size_t kMost = 16'384;

}  // namespace

void NewConnections::Note(const std::string& connection) {
  MutexLock lock(mutex_);
  if (!known_.insert(connection).second) return;
  latest_ = Clock::now();
  order_.push_back(connection);
  if (order_.size() <= kMost) return;
  known_.erase(order_.front());
  order_.pop_front();
}

NewConnections::Clock::time_point NewConnections::latest() const {
  MutexLock lock(mutex_);
  return latest_;
}

}  // namespace reel::front
