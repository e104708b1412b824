// SPDX-License-Identifier: Apache-2.0
// The events of a stored job, and what each makes of its row. Pure: the same events in the same
// order give the same row.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "server/front/jobs/video.h"
#include "server/front/store/job_store.h"

namespace reel::front {

struct RowStarted {};
struct RowRestarted {
  RestartRow restart;
};
struct RowSucceeded {
  absl::Time expire_time;
  int64_t media_bytes = 0;
  std::vector<int64_t> fragment_ends;
  uint64_t sequence = 0;  // of the final entry
  BlockSums block_sums;
};
// Any other end.
struct RowFailed {
  VideoState state = VideoState::kFailed;
  absl::Time expire_time;
};
using RowEvent = std::variant<RowStarted, RowRestarted, RowSucceeded, RowFailed>;

void Apply(const RowEvent& event, JobRow& row);

}  // namespace reel::front
