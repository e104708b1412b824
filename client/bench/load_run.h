// SPDX-License-Identifier: Apache-2.0
// Sends the requests of a load when they are due, whether or not earlier ones have been answered: a
// slow server cannot hide by slowing its callers.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/bench/load_plan.h"
#include "client/stop_signal.h"
#include "client/video_client.h"
#include "google/protobuf/duration.pb.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// The result of a request. Times count from when it was due.
struct LoadAnswer {
  size_t spec = 0;
  bool sent = true;  // false: too many were under way
  absl::Status status;
  std::optional<absl::Duration> first_event;
  absl::Duration took;  // until its end or its refusal
};

struct LoadOptions {
  std::vector<v1::VideoSpec> specs;                   // not empty
  bool with_media = false;                            // receive the bytes too, over the stream
  std::optional<google::protobuf::Duration> timeout;  // deadline of each job; absent: the server's
  size_t most_under_way = 512;                        // most requests under way, a thread each
  // Called with the number of answers so far, on any thread; may be empty.
  std::function<void(size_t answered)> progress;
};

// Returns when all requests have ended; in no order. `stop` ends it early: running calls are
// cancelled, unsent requests are dropped from the result.
std::vector<LoadAnswer> RunLoad(const VideoClient& client, const std::vector<Arrival>& arrivals,
                                const LoadOptions& options, StopSignal& stop);

}  // namespace reel::client
