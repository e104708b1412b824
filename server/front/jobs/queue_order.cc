// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/queue_order.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace reel::front {
namespace {

int PriorityClass(const Waiting& job, absl::Duration now) {
  switch (job.priority) {
    case Priority::kHigh:
      return 0;
    case Priority::kNormal:
      return 1;
    case Priority::kLow:
      return now - job.arrived >= kLowAgesAfter ? 1 : 2;
  }
  return 1;
}

}  // namespace

RunKey KeyOf(const Waiting& job, absl::Duration now, size_t index) {
  const int64_t predicted = absl::ToInt64Nanoseconds(job.predicted);
  const int64_t arrived = absl::ToInt64Nanoseconds(job.arrived);
  const int64_t latest = absl::ToInt64Nanoseconds(job.deadline) - predicted;
  const int64_t slack = latest - absl::ToInt64Nanoseconds(now);
  const bool has_time =
      slack >= std::max(kSlackInRuns * predicted, absl::ToInt64Nanoseconds(kSlack));
  return {PriorityClass(job, now),
          has_time,
          has_time ? arrived + kPatienceInRuns * predicted : latest,
          arrived,
          job.number,
          index,
          predicted};
}

void FairShare::SetWeight(const std::string& tenant, double weight) {
  weights_[tenant] = weight > 0 ? weight : 1;
}

double FairShare::weight(std::string_view tenant) const {
  const auto found = weights_.find(tenant);
  return found == weights_.end() ? 1 : found->second;
}

void FairShare::Charge(const std::string& tenant, absl::Duration device_time) {
  used_[tenant] += absl::ToDoubleSeconds(device_time) / weight(tenant);
}

void FairShare::Wake(const std::string& tenant, const std::set<std::string_view>& active,
                     const FairShare& used) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::string_view other : active) {
    if (other != tenant) least = std::min(least, used.virtual_time(other));
  }
  if (least == std::numeric_limits<double>::infinity()) {
    // Nobody else is there to be compared with.
    least = virtual_time(tenant);
    for (const auto& [other, time] : used.used_) least = std::max(least, time);
  }
  double& own = used_[tenant];
  own = std::max(own, least - absl::ToDoubleSeconds(kMostSavedUp) / weight(tenant));
}

double FairShare::virtual_time(std::string_view tenant) const {
  const auto found = used_.find(tenant);
  return found == used_.end() ? 0 : found->second;
}

bool RunsBefore(const Waiting& a, const Waiting& b, absl::Duration now) {
  return KeyOf(a, now) < KeyOf(b, now);
}

bool AreOfOneRank(const Waiting& a, const Waiting& b, absl::Duration now) {
  const RunKey first = KeyOf(a, now), second = KeyOf(b, now);
  return first.priority == second.priority && first.has_time && second.has_time;
}

std::vector<size_t> FairOrder(absl::Span<const Waiting> waiting, const FairShare& share,
                              absl::Duration now) {
  struct Line {
    std::string_view tenant;
    std::vector<RunKey> jobs;
    size_t next = 0;
    double virtual_time = 0, weight = 1;
  };
  std::unordered_map<std::string_view, Line> by_tenant;
  for (size_t i = 0; i < waiting.size(); ++i) {
    by_tenant[waiting[i].tenant].jobs.push_back(KeyOf(waiting[i], now, i));
  }
  // A heap, since there may be as many tenants as jobs. Equals go by name, always alike.
  const auto later = [](const Line* a, const Line* b) {
    return std::tie(a->virtual_time, a->tenant) > std::tie(b->virtual_time, b->tenant);
  };
  std::vector<Line*> lines;
  for (auto& [tenant, line] : by_tenant) {
    line.tenant = tenant;
    line.virtual_time = share.virtual_time(tenant);
    line.weight = share.weight(tenant);
    std::sort(line.jobs.begin(), line.jobs.end());
    lines.push_back(&line);
  }
  std::make_heap(lines.begin(), lines.end(), later);
  std::vector<size_t> order;
  order.reserve(waiting.size());
  while (!lines.empty()) {
    std::pop_heap(lines.begin(), lines.end(), later);
    Line& first = *lines.back();
    const RunKey& job = first.jobs[first.next++];
    first.virtual_time += 1e-9 * static_cast<double>(job.predicted) / first.weight;
    order.push_back(job.index);
    if (first.next == first.jobs.size()) {
      lines.pop_back();
    } else {
      std::push_heap(lines.begin(), lines.end(), later);
    }
  }
  return order;
}

}  // namespace reel::front
