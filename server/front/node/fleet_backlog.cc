// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_backlog.h"

namespace reel::front {
namespace {

// What is kept of what was seen, with each video: about the last twenty count.
constexpr double kKept = 0.95;
// Of a video, while none of its model has ended.
constexpr double kGuessSeconds = 30;

}  // namespace

int64_t PixelStepsOf(const model::GenerationSpec& spec) {
  return int64_t{spec.width} * spec.height * spec.num_frames * spec.num_steps();
}

double FleetBacklog::Load::seconds() const {
  if (!is_known()) return kGuessSeconds * (queued + claimed);
  return SecondsOf(work);
}

double FleetBacklog::Load::SecondsOf(int64_t part) const {
  return is_known() ? static_cast<double>(part) * seen_seconds / seen_work : 0;
}

void FleetBacklog::Change(const std::string& model, bool claimed, int64_t work, int by) {
  Load& load = models_[model];
  (claimed ? load.claimed : load.queued) += by;
  load.work += by * work;
}

void FleetBacklog::Learn(const std::string& model, int64_t work, double device_seconds) {
  if (work <= 0 || device_seconds <= 0) return;
  Load& load = models_[model];
  load.seen_seconds = kKept * load.seen_seconds + device_seconds;
  load.seen_work = kKept * load.seen_work + static_cast<double>(work);
}

}  // namespace reel::front
