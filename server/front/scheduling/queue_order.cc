// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/queue_order.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

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
          job.devices * predicted};
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

FairLines::FairLines(absl::Span<const Waiting> waiting, const FairShare& share, absl::Duration now,
                     bool whole)
    : is_sorted_(whole) {
  for (size_t i = 0; i < waiting.size(); ++i) {
    by_tenant_[waiting[i].tenant].jobs.push_back(KeyOf(waiting[i], now, i));
  }
  for (auto& [tenant, line] : by_tenant_) {
    line.tenant = tenant;
    line.virtual_time = share.virtual_time(tenant);
    line.weight = share.weight(tenant);
    if (is_sorted_) {
      std::sort(line.jobs.begin(), line.jobs.end(), std::greater<>());
    } else {
      std::make_heap(line.jobs.begin(), line.jobs.end(), std::greater<>());
    }
    lines_.push_back(&line);
  }
  std::make_heap(lines_.begin(), lines_.end(), IsLater);
}

// Equals go by name, always alike.
bool FairLines::IsLater(const Line* a, const Line* b) {
  return std::tie(a->virtual_time, a->tenant) > std::tie(b->virtual_time, b->tenant);
}

std::optional<size_t> FairLines::Next() {
  if (lines_.empty()) return std::nullopt;
  std::pop_heap(lines_.begin(), lines_.end(), IsLater);
  Line& first = *lines_.back();
  if (!is_sorted_) std::pop_heap(first.jobs.begin(), first.jobs.end(), std::greater<>());
  const RunKey job = first.jobs.back();
  first.jobs.pop_back();
  first.virtual_time += 1e-9 * static_cast<double>(job.device_time) / first.weight;
  if (first.jobs.empty()) {
    lines_.pop_back();
  } else {
    std::push_heap(lines_.begin(), lines_.end(), IsLater);
  }
  return job.index;
}

std::vector<size_t> FairOrder(absl::Span<const Waiting> waiting, const FairShare& share,
                              absl::Duration now) {
  FairLines lines(waiting, share, now, /*whole=*/true);
  std::vector<size_t> order;
  order.reserve(waiting.size());
  while (const auto next = lines.Next()) order.push_back(*next);
  return order;
}

}  // namespace reel::front
