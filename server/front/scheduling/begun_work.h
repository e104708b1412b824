// SPDX-License-Identifier: Apache-2.0
// The work that workers have begun and the device time that its tenants have had, for one look at
// the queue. It is computed once for each worker and tenant, however many jobs are compared with
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/work_shape.h"

namespace reel::front {

// A job is parked so often at most.
inline constexpr int kMostPreemptions = 3;
// Of all that are parked at a worker, wherever their states are.
inline constexpr int64_t kMostParkedBytes = int64_t{8} << 30;

// The state outlives it.
class BegunWork {
 public:
  struct Tenant {
    std::string_view name;
    double weight = 1;
    // See FairShare; and without what it was charged in advance.
    std::optional<double> virtual_time, used;
  };
  struct Job {
    const std::string* id = nullptr;
    const PlannedJob* job = nullptr;
    Tenant* tenant = nullptr;
    absl::Duration left;  // p90
    RunKey rest;          // as if what is left of it were all
    double order_key = 0;
    bool parked = false;
    bool ran_enough = false;  // or waits for one that has
    bool may_park = false;    // for somebody, once it has run enough
  };
  struct Work {
    std::vector<Job> jobs;
    size_t moving = 0;       // how many are not parked
    int64_t rows = 0;        // of those
    bool is_closed = false;  // nobody can be parked there
    bool may_park = false;   // any of them
    bool has_parked = false;
    // What its steps are of, of jobs that are gone here as well: the first one, and whether the
    // others are of its model and plan.
    const WorkShape* stepped = nullptr;
    bool is_alike = true;
    size_t num_stepped = 0;
    int64_t stepped_rows = 0;
  };

  BegunWork(const State& state, absl::Duration now) : state_(state), now_(now) {}

  const Work& At(const FleetWorker& worker);
  Tenant& Of(std::string_view tenant);
  double VirtualTime(Tenant& tenant) const;
  double Used(Tenant& tenant);
  // These are to be parked there, and count as parked from here on.
  void Park(const FleetWorker& worker, absl::Span<const std::string> ids);
  bool is_parked(const std::string& id) const { return parked_.contains(id); }

 private:
  Work Gather(const FleetWorker& worker);
  void FreeThoseWhoWait(const FleetWorker& worker, Work& work) const;
  void GatherUnused();

  const State& state_;
  const absl::Duration now_;
  std::map<const FleetWorker*, Work> work_;
  std::unordered_map<std::string_view, Tenant> tenants_;  // by names of jobs
  // Of what tenants were charged in advance, by tenant.
  std::optional<std::unordered_map<std::string_view, absl::Duration>> unused_;
  std::set<std::string, std::less<>> parked_;
};

}  // namespace reel::front
