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

// What became of a request. Times count from when it was due.
struct LoadAnswer {
  size_t spec = 0;
  bool sent = true;  // false: as many as allowed were under way
  absl::Status status;
  std::optional<absl::Duration> first_event;
  absl::Duration took;  // to its end or its refusal
};

struct LoadOptions {
  std::vector<v1::VideoSpec> specs;                   // not empty
  bool with_media = false;                            // the bytes too, over the stream
  std::optional<google::protobuf::Duration> timeout;  // of each job; else the server's
  size_t most_under_way = 512;                        // a thread each
  // How many have been answered, on any thread; may be empty.
  std::function<void(size_t answered)> progress;
};

// Returns when all that were sent have their end; in no order. `stop` ends it early: what is under
// way is cancelled, and the rest not sent and not in the answer.
std::vector<LoadAnswer> RunLoad(const VideoClient& client, const std::vector<Arrival>& arrivals,
                                const LoadOptions& options, StopSignal& stop);

}  // namespace reel::client
