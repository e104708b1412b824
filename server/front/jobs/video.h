// SPDX-License-Identifier: Apache-2.0
// One video as a value: the C++ twin of the API's Video. Snapshots of it are what callers and the
// store see.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/dispatch/kernel_listing.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/run_stats.h"
#include "server/front/scheduling/planned_job.h"

namespace reel::front {

// The numbers are those in files of rows.
enum class VideoState { kQueued = 0, kRunning = 1, kSucceeded = 2, kFailed = 3, kCancelled = 4 };

constexpr bool IsFinal(VideoState state) {
  return state != VideoState::kQueued && state != VideoState::kRunning;
}

// Whose videos a caller may see and end. A value.
struct Reach {
  std::string tenant;       // the caller's own
  bool everybodys = false;  // an admin's: those of all tenants
  bool from_peer = false;   // another node asks for its caller: of what is here alone

  bool Covers(std::string_view owner) const { return everybodys || owner == tenant; }
};

// What a caller's own trace says of a request.
struct CallerSpan {
  std::string id;               // 16 lower-case hex digits; empty: the request has none above it
  std::optional<bool> sampled;  // the caller's choice whether it is recorded
};

struct Progress {
  model::Stage stage = model::Stage::kQueue;
  int step = 0;
  int num_steps = 0;
  double fraction = 0;  // never falls
  absl::Duration remaining;
  int queue_position = 0;
};

// What a finished video keeps so that others can go on from it.
struct KeptState {
  int64_t size_bytes = 0;
  std::string sha256;  // lower-case hex
  absl::Time expire_time = absl::InfiniteFuture();

  friend bool operator==(const KeptState&, const KeptState&) = default;
};

struct Video {
  std::string id;  // the name is "videos/" + id
  std::string tenant;
  VideoState state = VideoState::kQueued;
  model::GenerationSpec spec;                     // resolved
  absl::Time create_time = absl::InfinitePast();  // InfinitePast: not yet
  absl::Time start_time = absl::InfinitePast();
  absl::Time end_time = absl::InfinitePast();
  absl::Time expire_time = absl::InfinitePast();
  absl::Time deadline = absl::InfinitePast();
  Progress progress;
  absl::Status error;  // in kFailed and kCancelled; made by server/errors
  model::MediaInfo media;
  std::optional<model::RunStats> stats;
  std::string request_id;
  Priority priority = Priority::kNormal;
  std::map<std::string, std::string> labels;
  int attempt = 1;
  std::string worker;
  std::string trace_id;
  CallerSpan caller_span;  // not stored: a video that outlives its reeld forgets it
  std::vector<model::Notice> notices;
  std::optional<KeptState> kept;
  std::vector<std::string> continued_by;  // names; not stored
};

// Videos, cards and lists of kernels as bytes, for the store and for other servers.
// stored_messages.h implements it; jobs/ and store/ know no protobuf.
class VideoSerializer {
 public:
  virtual ~VideoSerializer() = default;
  // Everything of the video but its tenant.
  virtual std::string Serialize(const Video& video) const = 0;
  virtual absl::StatusOr<Video> Parse(std::string_view bytes) const = 0;
  virtual std::string SerializeCard(const model::ModelCard& card) const = 0;
  virtual absl::StatusOr<model::ModelCard> ParseCard(std::string_view bytes) const = 0;
  virtual std::string SerializeKernels(const std::vector<kernels::OpListing>& kernels) const = 0;
  virtual absl::StatusOr<std::vector<kernels::OpListing>> ParseKernels(
      std::string_view bytes) const = 0;
};

}  // namespace reel::front
