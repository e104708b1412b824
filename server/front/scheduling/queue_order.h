// SPDX-License-Identifier: Apache-2.0
// The order of the queue: weighted fair share of device time between tenants; inside a tenant the
// priority class, then the job that should have begun first. Pure.
#pragma once

#include <compare>
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
#include "server/front/scheduling/planned_job.h"

namespace reel::front {

// A waiting job. Times are monotonic.
struct Waiting {
  std::string_view tenant;  // not owned
  Priority priority = Priority::kNormal;
  absl::Duration arrived;
  absl::Duration deadline;
  absl::Duration predicted;  // p90 of its run
  int64_t number = 0;        // the lower one goes first where all else is equal
  int devices = 1;           // that would work on it at once

  absl::Duration device_time() const { return devices * predicted; }
};

// LOW counts as NORMAL after this wait.
inline constexpr absl::Duration kLowAgesAfter = absl::Seconds(60);
// A job has slack while its deadline leaves this many of its runs, or this long. Jobs without slack
// go first, in the order in which they must start.
inline constexpr int kSlackInRuns = 4;
inline constexpr absl::Duration kSlack = absl::Seconds(10);
// A job with slack should start before it has waited this many times its own run. Short jobs pass
// long ones, but no long one starves.
inline constexpr int kPatienceInRuns = 4;
// Limit of what an idle tenant saves up.
inline constexpr absl::Duration kMostSavedUp = absl::Seconds(10);

// Device time used by each tenant, divided by its weight; the smallest is served next. Confined to
// one thread.
class FairShare {
 public:
  void SetWeight(const std::string& tenant, double weight);
  // A negative time is a refund.
  void Charge(const std::string& tenant, absl::Duration device_time);
  // Called when a job arrives for a tenant without any: caps what it has saved up. `active`:
  // tenants with jobs. `used`: what those have used, without advance charges.
  void Wake(const std::string& tenant, const std::set<std::string_view>& active,
            const FairShare& used);
  double virtual_time(std::string_view tenant) const;
  double weight(std::string_view tenant) const;

 private:
  std::map<std::string, double, std::less<>> weights_;
  std::map<std::string, double, std::less<>> used_;
};

// Sort key of one tenant's jobs, in whole nanoseconds: a decision compares a thousand of them.
struct RunKey {
  int priority = 0;
  bool has_time = false;
  int64_t due = 0, arrived = 0, number = 0;
  size_t index = 0;         // makes no two of them equal: what is equal otherwise stays as it was
  int64_t device_time = 0;  // predicted

  auto operator<=>(const RunKey&) const = default;
};
RunKey KeyOf(const Waiting& job, absl::Duration now, size_t index = 0);

// For two jobs of one tenant.
bool RunsBefore(const Waiting& a, const Waiting& b, absl::Duration now);

// Whether both have the same priority and slack.
bool AreOfOneRank(const Waiting& a, const Waiting& b, absl::Duration now);

// The order in which jobs would run if each took its predicted time, computed lazily.
class FairLines {
 public:
  // Tenants' names outlive it. `whole`: all will be read, so sorts them at once.
  FairLines(absl::Span<const Waiting> waiting, const FairShare& share, absl::Duration now,
            bool whole = false);
  // Lines hold pointers to each other.
  FairLines(const FairLines&) = delete;
  FairLines& operator=(const FairLines&) = delete;

  // Index of the next job; nullopt at the end.
  std::optional<size_t> Next();

 private:
  struct Line {
    std::string_view tenant;
    std::vector<RunKey> jobs;  // a heap, or sorted with the first one at the end
    double virtual_time = 0, weight = 1;
  };
  static bool IsLater(const Line* a, const Line* b);

  const bool is_sorted_;
  std::unordered_map<std::string_view, Line> by_tenant_;
  std::vector<Line*> lines_;  // a heap, since there may be as many tenants as jobs
};

// Indices into `waiting`, in the order in which the jobs would run.
std::vector<size_t> FairOrder(absl::Span<const Waiting> waiting, const FairShare& share,
                              absl::Duration now);

}  // namespace reel::front
