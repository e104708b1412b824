// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/queue_order.h"

#include <algorithm>
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

using Key = std::tuple<int, absl::Duration, absl::Duration>;

Key KeyOf(const Waiting& job, absl::Duration now) {
  return {PriorityClass(job, now), job.deadline - job.predicted, job.arrived};
}

}  // namespace

void FairShare::SetWeight(const std::string& tenant, double weight) {
  weights_[tenant] = weight > 0 ? weight : 1;
}

double FairShare::weight(const std::string& tenant) const {
  const auto found = weights_.find(tenant);
  return found == weights_.end() ? 1 : found->second;
}

void FairShare::Charge(const std::string& tenant, absl::Duration device_time) {
  used_[tenant] += absl::ToDoubleSeconds(device_time) / weight(tenant);
}

void FairShare::Wake(const std::string& tenant, const std::vector<std::string>& active) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::string& other : active) {
    if (other != tenant) least = std::min(least, virtual_time(other));
  }
  if (least == std::numeric_limits<double>::infinity()) {
    // Nobody else is there to be compared with.
    least = virtual_time(tenant);
    for (const auto& [other, used] : used_) least = std::max(least, used);
  }
  double& used = used_[tenant];
  used = std::max(used, least - absl::ToDoubleSeconds(kMostSavedUp) / weight(tenant));
}

double FairShare::virtual_time(const std::string& tenant) const {
  const auto found = used_.find(tenant);
  return found == used_.end() ? 0 : found->second;
}

bool RunsBefore(const Waiting& a, const Waiting& b, absl::Duration now) {
  return KeyOf(a, now) < KeyOf(b, now);
}

std::vector<size_t> FairOrder(absl::Span<const Waiting> waiting, const FairShare& share,
                              absl::Duration now) {
  struct Line {
    std::vector<size_t> jobs;
    size_t next = 0;
    double virtual_time = 0, weight = 1;
  };
  std::map<std::string, Line> by_tenant;
  std::vector<Key> keys;
  keys.reserve(waiting.size());
  for (size_t i = 0; i < waiting.size(); ++i) {
    by_tenant[waiting[i].tenant].jobs.push_back(i);
    keys.push_back(KeyOf(waiting[i], now));
  }
  std::vector<Line> lines;
  for (auto& [tenant, line] : by_tenant) {
    line.virtual_time = share.virtual_time(tenant);
    line.weight = share.weight(tenant);
    std::stable_sort(line.jobs.begin(), line.jobs.end(),
                     [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    lines.push_back(std::move(line));
  }
  std::vector<size_t> order;
  order.reserve(waiting.size());
  while (order.size() < waiting.size()) {
    Line* first = nullptr;
    for (Line& line : lines) {
      if (line.next == line.jobs.size()) continue;
      if (first == nullptr || line.virtual_time < first->virtual_time) first = &line;
    }
    const size_t job = first->jobs[first->next++];
    first->virtual_time += absl::ToDoubleSeconds(waiting[job].predicted) / first->weight;
    order.push_back(job);
  }
  return order;
}

}  // namespace reel::front
