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

// A job that waits. Times are of the monotonic clock.
struct Waiting {
  std::string_view tenant;  // whoever makes one keeps the name
  Priority priority = Priority::kNormal;
  absl::Duration arrived;
  absl::Duration deadline;
  absl::Duration predicted;  // p90 of its run
  int64_t number = 0;        // the lower one goes first where all else is equal
  int devices = 1;           // that would work on it at once

  absl::Duration device_time() const { return devices * predicted; }
};

// LOW counts as NORMAL after it has waited so long.
inline constexpr absl::Duration kLowAgesAfter = absl::Seconds(60);
// A job has time while its deadline leaves so many of its own runs, or so long. Jobs that have none
// go first, ordered by the moment at which they must begin.
inline constexpr int kSlackInRuns = 4;
inline constexpr absl::Duration kSlack = absl::Seconds(10);
// A job that has time should begin before it has waited for so many times its own run. So short
// jobs pass long ones, but no long one is passed for ever.
inline constexpr int kPatienceInRuns = 4;
// What an idle tenant may save up.
inline constexpr absl::Duration kMostSavedUp = absl::Seconds(10);

// Device time used by each tenant over its weight: the smallest is served next. Confined to one
// thread.
class FairShare {
 public:
  void SetWeight(const std::string& tenant, double weight);
  // Negative to give back.
  void Charge(const std::string& tenant, absl::Duration device_time);
  // A job of it arrived while it had none: what it saved up above the limit is gone. `active` are
  // the tenants that have jobs, `used` is what those have used, without what they paid in advance.
  void Wake(const std::string& tenant, const std::set<std::string_view>& active,
            const FairShare& used);
  double virtual_time(std::string_view tenant) const;
  double weight(std::string_view tenant) const;

 private:
  std::map<std::string, double, std::less<>> weights_;
  std::map<std::string, double, std::less<>> used_;
};

// By which jobs of one tenant go. In whole nanoseconds, since a thousand of them are compared for
// each decision.
struct RunKey {
  int priority = 0;
  bool has_time = false;
  int64_t due = 0, arrived = 0, number = 0;
  size_t index = 0;         // makes no two of them equal: what is equal otherwise stays as it was
  int64_t device_time = 0;  // predicted

  auto operator<=>(const RunKey&) const = default;
};
RunKey KeyOf(const Waiting& job, absl::Duration now, size_t index = 0);

// Of two jobs of one tenant.
bool RunsBefore(const Waiting& a, const Waiting& b, absl::Duration now);

// Whether they have the same priority, and both have time.
bool AreOfOneRank(const Waiting& a, const Waiting& b, absl::Duration now);

// The order in which they would run, if each took what is predicted: no more of it is worked out
// than is asked for.
class FairLines {
 public:
  // Names of tenants outlive it. `whole`: all of them will be asked for, so they are sorted at
  // once.
  FairLines(absl::Span<const Waiting> waiting, const FairShare& share, absl::Duration now,
            bool whole = false);
  // Lines point at each other.
  FairLines(const FairLines&) = delete;
  FairLines& operator=(const FairLines&) = delete;

  // The index of the next one; nullopt: there are no more.
  std::optional<size_t> Next();

 private:
  struct Line {
    std::string_view tenant;
    std::vector<RunKey> jobs;  // a heap, or sorted: the first one at the end
    double virtual_time = 0, weight = 1;
  };
  static bool IsLater(const Line* a, const Line* b);

  const bool is_sorted_;
  std::unordered_map<std::string_view, Line> by_tenant_;
  std::vector<Line*> lines_;  // a heap, since there may be as many tenants as jobs
};

// Indices into `waiting` in the order in which they would run, if each took what is predicted.
std::vector<size_t> FairOrder(absl::Span<const Waiting> waiting, const FairShare& share,
                              absl::Duration now);

}  // namespace reel::front
