// SPDX-License-Identifier: Apache-2.0
// The fleet's queued and claimed videos as a node decides by them: what the view has of them,
// without its bytes, in the order in which it is asked for. Those that have ended are in the view
// alone.
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
  bool wished = false, expires = false;  // its end is wished for, since its time is over
  bool locked = false;                   // it is sealed with a key that is not here
  bool readable = false;                 // what follows is known
  std::string model, worker, caller_node;
  int64_t work = 0;                     // as FleetBacklog counts it
  model::KernelSelection kernels;       // as it was resolved
  std::vector<std::string> conditions;  // SHA-256 of each
  std::vector<model::RequestAdapter> adapters;
  Priority priority = Priority::kNormal;
  absl::Time create_time, deadline;
};

// As a client sees it.
VideoState StateOf(FleetPhase phase);

// Confined to one thread.
class VideoIndex {
 public:
  using Key = FleetState::Key;
  using Accept = std::function<bool(const KnownVideo&)>;
  explicit VideoIndex(const LoggedVideos& logged) : logged_(logged) {}

  void Clear();
  // One that has ended leaves it.
  void Update(const Key& key, const FleetJob& job);
  void SetPaces(const std::map<std::string, ModelPace>& paces) { backlog_.SetPaces(paces); }
  // Null: it has ended, or is not known.
  const KnownVideo* FindLive(const Key& key) const;

  // The head of the queue: tenants in turn by what each has running for its weight; of one tenant
  // by priority, then by age. Only what is accepted.
  std::vector<Key> Head(size_t window, const std::map<std::string, double>& weights,
                        const Accept& accept) const;
  int queued() const { return queued_; }
  const FleetBacklog& backlog() const { return backlog_; }
  // What a tenant has claimed, and so many more, for its weight.
  double Load(const std::string& tenant, int more,
              const std::map<std::string, double>& weights) const;
  // Queued or claimed ones of which nothing more is known here.
  int locked() const { return locked_; }
  // Queued and claimed ones of a tenant.
  int Live(const std::string& tenant) const;
  // Of a device, for those, as far as bills of their models tell.
  double LiveSeconds(const std::string& tenant) const;
  const std::set<Key>& claimed() const { return claimed_; }
  // Queued or claimed, by when they end at the latest.
  const std::set<std::pair<absl::Time, Key>>& deadlines() const { return deadlines_; }

 private:
  // Minus the priority, sequence of the request, place in it.
  using Place = std::tuple<int, uint64_t, uint32_t, Key>;
  static Place PlaceOf(const Key& key, const KnownVideo& video);
  struct Tenant {
    std::set<Place> queue;
    int claimed = 0;
    std::map<std::string, int64_t> work;  // of both, by model
  };
  void Take(const Key& key, const KnownVideo& video);
  void Put(const Key& key, const KnownVideo& video);
  void Read(const Key& key, const FleetJob& job, KnownVideo& video);
  // Of one that cannot be read.
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
