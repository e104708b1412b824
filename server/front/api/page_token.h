// SPDX-License-Identifier: Apache-2.0
// The opaque token of ListVideos: where a page ended, and under which filter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/jobs/video.h"

namespace reel::front {

struct PagePosition {
  absl::Time time;  // of the page's last video
  std::string id;
};

// The order of states and repetitions do not matter.
std::string MakePageToken(const PagePosition& position, const std::vector<VideoState>& filter);

// INVALID_ARGUMENT, with a BadRequest for "page_token", for a token that is not ours, was damaged,
// or belongs to another filter.
absl::StatusOr<PagePosition> ParsePageToken(std::string_view token,
                                            const std::vector<VideoState>& filter);

}  // namespace reel::front
