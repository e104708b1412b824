// SPDX-License-Identifier: Apache-2.0
// Checks that a stream over a video can begin where its reader asks.
#pragma once

#include "absl/status/status.h"
#include "server/front/api/request_convert.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// FAILED_PRECONDITION VIDEO_NOT_READY before success, OUT_OF_RANGE past the end.
absl::Status CheckDownload(const Job& job, const DownloadRange& range);
// OUT_OF_RANGE when the video is final and the offset lies past its end.
absl::Status CheckWatch(const Job& job, const WatchPoint& from);

}  // namespace reel::front
