// SPDX-License-Identifier: Apache-2.0
// A page of videos in either order. A fleet lists the newest first alone: for the oldest ones its
// pages are walked.
#pragma once

#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

struct FacadeListAsk {
  Reach reach;
  std::optional<Video> after;  // the last one of the page before
  int limit = 20;
  bool oldest_first = false;
};

// `jobs` outlives the answer. INVALID_REQUEST where there are too many to be walked.
void ListForFacade(JobService& jobs, const FacadeListAsk& ask, Answer<ListPage> done);

}  // namespace reel::front
