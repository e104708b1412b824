// SPDX-License-Identifier: Apache-2.0
// The videos that requests continue from, as the view has them.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/node/object_keys.h"

namespace reel::front {

// STATE_GONE: this video cannot be continued. `why` ends that sentence.
absl::Status StateGone(const std::string& id, absl::string_view why);

// Thread-safe. Arguments outlive it.
class Sources {
 public:
  Sources(FleetView& view, const LoggedVideos& logged, const Clock& clock)
      : view_(view), logged_(logged), clock_(clock) {}

  // Completes a request that continues a video. A promotion takes the draft's resolved spec,
  // without the pass to stop after; others inherit what they leave out. VIDEO_NOT_FOUND for another
  // tenant's video.
  absl::Status Fill(NewJob& job) const;
  // The source of a completed spec; nullopt if it is gone.
  std::optional<ViewVideo> Find(const std::string& tenant, const model::GenerationSpec& spec) const;

 private:
  // Returns a video of the tenant that still has its state.
  absl::StatusOr<Video> Read(const std::string& tenant, const std::string& id) const;

  FleetView& view_;
  const LoggedVideos logged_;
  const Clock& clock_;
};

}  // namespace reel::front
