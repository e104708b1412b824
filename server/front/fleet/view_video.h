// SPDX-License-Identifier: Apache-2.0
// A video as the view keeps it, and parameters of queries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/log_fold.h"

namespace reel::front {

// Device time per unit of work of a model's latest videos; newer ones count more.
struct ModelPace {
  double seconds = 0;  // device time
  double work = 0;     // in the units of whoever read the videos

  // Adds a video that ended with a result. About the last twenty count.
  void Learn(int64_t video_work, double device_seconds) {
    constexpr double kKept = 0.95;
    if (video_work <= 0 || device_seconds <= 0) return;
    seconds = kKept * seconds + device_seconds;
    work = kKept * work + static_cast<double>(video_work);
  }
  bool is_known() const { return work > 0; }

  bool operator==(const ModelPace&) const = default;
};

// How far the view has read, and of which stream.
struct ViewProgress {
  uint64_t position = 0;
  int64_t created = 0;  // of the log's stream; 0 if not known yet
  std::string keys;     // ids of the keys with which videos were read

  bool operator==(const ViewProgress&) const = default;
};

// Fields of a video's record that the view keeps as columns, for lists, expiry and bills.
struct VideoFacts {
  bool readable = false;  // else the fields below are not set
  bool locked = false;    // sealed with a key that is not here
  std::string model = {};
  int64_t work = 0;           // as ModelPace counts it
  double device_seconds = 0;  // its bill; 0 if none
  absl::Time create_time = absl::InfinitePast();
  absl::Time end_time = absl::InfinitePast();
  absl::Time expire_time = absl::InfiniteFuture();
  std::string source = {};  // id of the video that it continues; empty if none
  int64_t state_bytes = 0;  // of the state that it keeps until then
  absl::Time state_expire_time = absl::InfinitePast();
};

// Decodes videos' records, which are opaque to the fold. Thread-safe.
class VideoReader {
 public:
  virtual ~VideoReader() = default;
  virtual VideoFacts ReadFacts(const FleetState::Key& key, const FleetJob& job) const = 0;
};

struct ViewVideo {
  FleetState::Key key;
  FleetJob job;
  // As of its request or its end; without model and work.
  VideoFacts facts;

  bool live() const { return !HasEnded(job.phase); }
  // Whether no call can reach it any more.
  bool gone(absl::Time now) const { return job.deleted || (!live() && facts.expire_time <= now); }
};

// Query for a page of readable videos that are neither deleted nor expired.
struct ViewPage {
  std::string tenant;  // empty for all tenants
  std::vector<FleetPhase> phases;
  bool oldest_first = false;
  // Continues after this one; from the first if there is no id.
  absl::Time after_time = absl::InfinitePast();
  std::string after_id = {};
  absl::Time now;  // videos that expire until then have expired
  size_t size = 0;
};

// The bill of an ended video.
struct ViewBill {
  std::string tenant;
  double device_seconds = 0;
  absl::Time end_time;
};

}  // namespace reel::front
