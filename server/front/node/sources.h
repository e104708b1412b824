// SPDX-License-Identifier: Apache-2.0
// The videos that requests go on from, as the view has them.
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

// STATE_GONE: the state of this video cannot be gone on from. `why`: the end of that sentence.
absl::Status StateGone(const std::string& id, absl::string_view why);

// Thread-safe. What it is given outlives it.
class Sources {
 public:
  Sources(FleetView& view, const LoggedVideos& logged, const Clock& clock)
      : view_(view), logged_(logged), clock_(clock) {}

  // Makes a request that goes on from a video one of its own. A promotion has the draft's resolved
  // spec, without the pass to stop after; others have what they leave out. VIDEO_NOT_FOUND for a
  // video of another tenant.
  absl::Status Fill(NewJob& job) const;
  // The source of a spec that was filled; nothing: it is gone.
  std::optional<ViewVideo> Find(const std::string& tenant, const model::GenerationSpec& spec) const;

 private:
  // One of the tenant's that has kept its state until now.
  absl::StatusOr<Video> Read(const std::string& tenant, const std::string& id) const;

  FleetView& view_;
  const LoggedVideos logged_;
  const Clock& clock_;
};

}  // namespace reel::front
