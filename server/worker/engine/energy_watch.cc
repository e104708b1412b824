// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/energy_watch.h"

namespace reel::worker {

std::optional<EnergyWatch::Reading> EnergyWatch::Read(absl::Time now, Ask ask) {
  if (reader_ == nullptr || now <= read_at_) return std::nullopt;
  if (ask == Ask::kIfDue && now - read_at_ < kEvery) return std::nullopt;
  const std::optional<int64_t> read = reader_();
  if (!read) return std::nullopt;
  const absl::Duration since = now - std::exchange(read_at_, now);
  const std::optional<int64_t> last = std::exchange(last_, read);
  // The first reading, or a reloaded driver, which starts from 0.
  if (!last || *read < *last) return std::nullopt;
  untold_ += *read - *last;
  return Reading{*read - *last, since};
}

}  // namespace reel::worker
