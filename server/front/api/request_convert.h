// SPDX-License-Identifier: Apache-2.0
// Requests to values, with the rules for what stands beside the spec. Where one of those is broken,
// the answer lists the spec's violations too, so that a caller learns everything at once.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/resolve.h"
#include "reel/v1/video_service.pb.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

struct RequestRules {
  absl::Duration max_timeout = absl::Minutes(30);
  absl::Duration default_timeout = absl::Minutes(10);
  int max_labels = 16;
  int max_label_chars = 64;
  model::RequestLimits limits;
};

// Who asks, as the call knows it.
struct Asker {
  std::string tenant;
  std::string trace_id;
  CallerSpan caller_span = {};
};

// All of them: INVALID_ARGUMENT with every violation, paths as the client wrote them. `models`
// are used only when a rule is broken, to check the spec as well.
absl::StatusOr<NewJob> NewJobFrom(const v1::GenerateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models);
absl::StatusOr<NewJob> NewJobFrom(const v1::CreateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models);
absl::StatusOr<NewJob> NewJobFrom(const v1::EstimateVideoRequest& request, const Asker& asker,
                                  const RequestRules& rules,
                                  const std::vector<ServedModel>& models);

// "videos/{id}" to id.
absl::StatusOr<std::string> VideoIdFrom(const std::string& name);

absl::StatusOr<ListQuery> ListQueryFrom(const v1::ListVideosRequest& request, const Reach& reach);

struct WatchPoint {
  std::string id;
  uint64_t after_sequence = 0;
  int64_t media_offset = 0;
  int attempt = 0;  // 0: the current one
  bool without_media = false;
};
absl::StatusOr<WatchPoint> WatchPointFrom(const v1::WatchVideoRequest& request);

struct DownloadRange {
  std::string id;
  int64_t offset = 0;
  int64_t limit = 0;  // 0: to the end
};
absl::StatusOr<DownloadRange> DownloadRangeFrom(const v1::DownloadVideoRequest& request);

// How long before its call's end a verdict must leave so that it still arrives: a status that is
// sent at the deadline never does. gRPC's C++ and Python clients round what they tell the server
// up, by as much as 1 %.
absl::Duration VerdictMargin(absl::Duration call_time_left);

// What a bound GenerateVideo asks for when it names no timeout: the call's own time less the
// margin.
absl::Duration TimeoutOfCall(absl::Duration call_time_left, const RequestRules& rules);

}  // namespace reel::front
