// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/memory_watch.h"

#include <algorithm>

namespace reel::worker {

const model::DeviceMemory& MemoryWatch::Read(int64_t kept) {
  if (reader_ == nullptr) return last_;
  last_ = reader_();
  last_.kept = kept;
  return last_;
}

MemoryWatch::Growth MemoryWatch::End(int64_t kept) {
  const model::DeviceMemory before = last_;
  const model::DeviceMemory& now = Read(kept);
  const int64_t remembered = now.kept - before.kept;
  const int64_t stays = now.in_use - before.in_use - remembered;
  return {std::max(now.peak - before.in_use - std::max<int64_t>(remembered, 0), stays), stays};
}

bool MemoryWatch::TakeChanged() {
  model::DeviceMemory now = last_;
  now.peak = told_.peak;  // a single reading, not reported
  if (now == told_) return false;
  told_ = now;
  return true;
}

}  // namespace reel::worker
