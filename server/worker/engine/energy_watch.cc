// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/energy_watch.h"

#include <algorithm>

namespace reel::worker {

int64_t EnergyWatch::Take(absl::Time now) {
  if (reader_ == nullptr || now - read_at_ < kEvery) return 0;
  const std::optional<int64_t> read = reader_();
  if (!read) return 0;
  read_at_ = now;
  // A driver that was loaded anew counts from nought.
  const int64_t used = last_ ? std::max<int64_t>(*read - *last_, 0) : 0;
  last_ = read;
  return used;
}

}  // namespace reel::worker
