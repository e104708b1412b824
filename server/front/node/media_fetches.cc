// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/media_fetches.h"

#include <algorithm>

#include "server/front/node/fleet_errors.h"

namespace reel::front {

absl::StatusOr<MediaFetches::Bytes> MediaFetches::Read(const StoredResult& result, int64_t offset,
                                                       Woken woken) {
  const MutexLock lock(mutex_);
  const Part part{result.key, offset / kPartBytes};
  const auto found = parts_.find(part);
  if (found == parts_.end()) {
    if (!Fetch(result, part)) return FleetUnavailable("Too much is read from the fleet's store");
    parts_[part].waiting.push_back(std::move(woken));
    return Bytes();
  }
  Fetched& fetched = found->second;
  if (!fetched.done) {
    fetched.waiting.push_back(std::move(woken));
    return Bytes();
  }
  if (!fetched.error.ok()) {
    const absl::Status error = fetched.error;
    Drop(part);
    return error;
  }
  recent_.splice(recent_.begin(), recent_, fetched.place);
  const Bytes bytes = fetched.bytes;
  const Part next{part.first, part.second + 1};
  if (next.second * kPartBytes < result.size && !parts_.contains(next)) Fetch(result, next);
  return bytes;
}

bool MediaFetches::Fetch(const StoredResult& result, const Part& part) {
  const bool taken = pool_.Put([this, result, part] { Carry(result, part); });
  if (taken) parts_.try_emplace(part);
  return taken;
}

void MediaFetches::Carry(const StoredResult& result, const Part& part) {
  const int64_t offset = part.second * kPartBytes;
  const int64_t size = std::min(kPartBytes, result.size - offset);
  auto bytes = objects_.Get(result.key, offset, size);
  state_.Note(bytes.status());
  absl::Status error = bytes.status();
  if (error.ok() && static_cast<int64_t>(bytes->size()) != size) {
    error = absl::OutOfRangeError("the object is shorter than its video says");
  }
  std::vector<Woken> waiting;
  {
    const MutexLock lock(mutex_);
    Fetched& fetched = parts_[part];
    fetched.done = true;
    fetched.error = error.ok() ? error : ReadFailure(error);
    if (error.ok()) fetched.bytes = std::make_shared<const std::string>(*std::move(bytes));
    recent_.push_front(part);
    fetched.place = recent_.begin();
    waiting = std::exchange(fetched.waiting, {});
    while (recent_.size() > kMostParts) Drop(Part(recent_.back()));
  }
  for (Woken& woken : waiting) woken();
}

void MediaFetches::Drop(const Part& part) {
  const auto found = parts_.find(part);
  recent_.erase(found->second.place);
  parts_.erase(found);
}

}  // namespace reel::front
