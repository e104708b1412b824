// SPDX-License-Identifier: Apache-2.0
// Index of the fleet's queued and claimed videos, in the order in which a node claims them. Ended
// videos are only in the view.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/jobs/video.h"
#include "server/front/node/fleet_use.h"
#include "server/front/node/object_keys.h"

namespace reel::front {

struct KnownVideo {
  FleetPhase phase = FleetPhase::kQueued;
  uint32_t epoch = 0, begun = 0;  // as in FleetJob
  std::string owner, address;
  uint64_t requested = 0;
  uint32_t place = 0;
  bool wished = false, expires = false;  // it is to end; because its deadline has passed
  bool locked = false;                   // sealed with a key that this server lacks
  bool readable = false;                 // the fields below are known
  std::string model, worker, caller_node;
  int64_t work = 0;                     // as FleetBacklog counts it
  model::KernelSelection kernels;       // as resolved
  std::vector<std::string> conditions;  // SHA-256 of each
  std::vector<model::RequestAdapter> adapters;
  Priority priority = Priority::kNormal;
  absl::Time create_time, deadline;
};

// The state that clients see.
VideoState StateOf(FleetPhase phase);

// Confined to one thread.
class VideoIndex {
 public:
  using Key = FleetState::Key;
  using Accept = std::function<bool(const KnownVideo&)>;
  explicit VideoIndex(const LoggedVideos& logged) : logged_(logged) {}

  void Clear();
  // Removes a video that has ended.
  void Update(const Key& key, const FleetJob& job);
  void SetPaces(const std::map<std::string, ModelPace>& paces) { backlog_.SetPaces(paces); }
  // Null if the video has ended or is not known.
  const KnownVideo* FindLive(const Key& key) const;

  // The first `window` videos of the queue that `accept` takes: tenants by their running videos per
  // weight, then by priority, then by age.
  std::vector<Key> Head(size_t window, const std::map<std::string, double>& weights,
                        const Accept& accept) const;
  int queued() const { return queued_; }
  const FleetBacklog& backlog() const { return backlog_; }
  // The tenant's claimed videos plus `more`, divided by its weight.
  double Load(const std::string& tenant, int more,
              const std::map<std::string, double>& weights) const;
  // Number of queued and claimed videos that this server cannot decode.
  int locked() const { return locked_; }
  // Number of the tenant's queued and claimed videos.
  int Live(const std::string& tenant) const;
  // Device time of those, estimated from their models' bills.
  double LiveSeconds(const std::string& tenant) const;
  const std::set<Key>& claimed() const { return claimed_; }
  // Queued and claimed videos by deadline.
  const std::set<std::pair<absl::Time, Key>>& deadlines() const { return deadlines_; }

 private:
  // Negated priority, sequence of the request, position in it.
  using Place = std::tuple<int, uint64_t, uint32_t, Key>;
  static Place PlaceOf(const Key& key, const KnownVideo& video);
  struct Tenant {
    std::set<Place> queue;
    int claimed = 0;
    std::map<std::string, int64_t> work;  // queued and claimed, by model
  };
  void Take(const Key& key, const KnownVideo& video);
  void Put(const Key& key, const KnownVideo& video);
  void Read(const Key& key, const FleetJob& job, KnownVideo& video);
  // Counts a video that cannot be decoded.
  void CountLocked(const Key& key, const KnownVideo& video, int by);

  const LoggedVideos logged_;
  std::map<Key, KnownVideo> videos_;
  std::map<std::string, Tenant> tenants_;
  std::set<Key> claimed_;
  std::set<std::pair<absl::Time, Key>> deadlines_;
  int queued_ = 0, locked_ = 0;
  FleetBacklog backlog_;
};

}  // namespace reel::front
