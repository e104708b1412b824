// SPDX-License-Identifier: Apache-2.0
// A video as the view keeps it, and what is asked of many of them. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/log_fold.h"

namespace reel::front {

// The time that a model's latest videos took for their work; newer videos count more. A value.
struct ModelPace {
  double seconds = 0;  // of a device
  double work = 0;     // in the units of whoever read the videos

  // A video has ended with a result. About the last twenty count.
  void Learn(int64_t video_work, double device_seconds) {
    constexpr double kKept = 0.95;
    if (video_work <= 0 || device_seconds <= 0) return;
    seconds = kKept * seconds + device_seconds;
    work = kKept * work + static_cast<double>(video_work);
  }
  bool is_known() const { return work > 0; }

  bool operator==(const ModelPace&) const = default;
};

// How far the view has come, and in what.
struct ViewProgress {
  uint64_t position = 0;
  int64_t created = 0;  // of the log's stream; 0: not known yet
  std::string keys;     // ids of the keys with which videos were read

  bool operator==(const ViewProgress&) const = default;
};

// What the view keeps of a video's bytes beside them, for lists, expiry and bills.
struct VideoFacts {
  bool readable = false;  // else nothing below is known
  bool locked = false;    // sealed with a key that is not here
  std::string model = {};
  int64_t work = 0;           // as ModelPace counts it
  double device_seconds = 0;  // its bill; 0: none
  absl::Time create_time = absl::InfinitePast();
  absl::Time end_time = absl::InfinitePast();
  absl::Time expire_time = absl::InfiniteFuture();
  std::string source = {};  // id of the video that it goes on from; empty: none
  int64_t state_bytes = 0;  // of the state that it has kept, until then
  absl::Time state_expire_time = absl::InfinitePast();
};

// Reads videos, which are opaque bytes to the fold. Thread-safe.
class VideoReader {
 public:
  virtual ~VideoReader() = default;
  virtual VideoFacts ReadFacts(const FleetState::Key& key, const FleetJob& job) const = 0;
};

struct ViewVideo {
  FleetState::Key key;
  FleetJob job;
  // As of its request or its end; model and work are not kept.
  VideoFacts facts;

  bool live() const { return !HasEnded(job.phase); }
  // Nobody can ask for it any more.
  bool gone(absl::Time now) const { return job.deleted || (!live() && facts.expire_time <= now); }
};

// A page of the videos that can be read and were neither deleted nor have expired.
struct ViewPage {
  std::string tenant;  // empty: everybody's
  std::vector<FleetPhase> phases;
  bool oldest_first = false;
  // After this one; no id: from the first on.
  absl::Time after_time = absl::InfinitePast();
  std::string after_id = {};
  absl::Time now;  // what expires until then has expired
  size_t size = 0;
};

// What a video that has ended was billed.
struct ViewBill {
  std::string tenant;
  double device_seconds = 0;
  absl::Time end_time;
};

}  // namespace reel::front
