// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/request_table.h"

namespace reel::front {

Caller RequestTable::Request::TakeFirst() {
  Caller caller = std::move(callers.front());
  callers.erase(callers.begin());
  return caller;
}

void RequestTable::Add(Caller caller) {
  const RequestKey key = KeyOf(caller);
  requests_[key].callers.push_back(std::move(caller));
  due_.insert(key);
}

void RequestTable::Claim(const RequestKey& key, const std::string& job) {
  if (!key.second.empty()) requests_[key].job = job;
}

void RequestTable::Free(const RequestKey& key) {
  if (key.second.empty()) return;
  requests_[key].job.clear();
  due_.insert(key);
}

void RequestTable::Answered(const RequestKey& key) {
  if (key.second.empty()) return;
  requests_[key].busy = false;
  due_.insert(key);
}

RequestTable::Request* RequestTable::Find(const RequestKey& key) {
  const auto found = requests_.find(key);
  return found == requests_.end() ? nullptr : &found->second;
}

}  // namespace reel::front
