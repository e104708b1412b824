// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/fleet_worker.h"

#include <algorithm>
#include <utility>

namespace reel::front {
namespace {

// Plans are what callers ask for.
constexpr size_t kMostKinds = 256;

}  // namespace

bool FleetWorker::Packs(const WorkShape& like, size_t jobs, int64_t rows, int64_t fill_rows) const {
  if (rows > fill_rows || steps_alone.contains(like.model)) return false;
  const auto most = most_together.find({like.model, like.plan});
  return most == most_together.end() || jobs <= most->second;
}

bool FleetWorker::SawStep(const StepSample& step) {
  const std::pair kind(step.model, step.plan);
  const auto most = most_together.find(kind);
  if (step.left_out > 0) {
    if (most == most_together.end() && most_together.size() >= kMostKinds) most_together.clear();
    size_t& now = most_together[kind];
    return std::exchange(now, step.jobs.size()) != step.jobs.size();
  }
  // It has tried again.
  if (most == most_together.end() || step.jobs.size() <= most->second) return false;
  most_together.erase(most);
  return true;
}

void FleetWorker::SetSteps(const model::ModelCard& card) {
  steps_alone.erase(card.name);
  if (card.steps_alone) steps_alone.insert(card.name);
  std::erase_if(most_together, [&](const auto& kind) { return kind.first.first == card.name; });
}

bool FleetWorker::HoldsJobOf(const std::string& model) const {
  return std::any_of(held.begin(), held.end(),
                     [&](const auto& entry) { return entry.second.shape.model == model; });
}

absl::Duration FleetWorker::Backlog(const std::set<std::string>& without) const {
  absl::Duration sum;
  for (const auto& [job, mine] : held) {
    if (!without.contains(job)) sum += mine.left;
  }
  return sum;
}

}  // namespace reel::front
