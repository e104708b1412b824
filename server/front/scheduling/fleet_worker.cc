// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/fleet_worker.h"

#include <algorithm>
#include <utility>

namespace reel::front {
namespace {

// Plans are what callers ask for.
constexpr size_t kMostKinds = 256;
// Steps by which an engine tries again whether its jobs gain by sharing.
constexpr int kMostTried = 8;

}  // namespace

bool FleetWorker::Packs(const WorkShape& like, size_t jobs, int64_t rows, int64_t fill_rows) const {
  if (rows > fill_rows || steps_alone.contains(like.model)) return false;
  const auto kept = together.find({like.model, like.plan});
  return kept == together.end() || jobs <= kept->second.most;
}

bool FleetWorker::SawStep(const StepSample& step) {
  const std::pair kind(step.model, step.plan);
  const auto kept = together.find(kind);
  if (step.left_out > 0) {
    if (kept == together.end() && together.size() >= kMostKinds) together.clear();
    Together& now = together[kind];
    const bool is_news = now.most != step.jobs.size();
    now = {step.jobs.size(), 0};
    return is_news;
  }
  if (kept == together.end() || step.jobs.size() <= kept->second.most) return false;
  if (++kept->second.tried <= kMostTried) return false;
  together.erase(kept);
  return true;
}

void FleetWorker::SetSteps(const model::ModelCard& card) {
  steps_alone.erase(card.name);
  if (card.steps_alone) steps_alone.insert(card.name);
  std::erase_if(together, [&](const auto& kind) { return kind.first.first == card.name; });
}

std::string_view FleetWorker::kind() const {
  const std::string_view device = info.device;
  const size_t space = device.find(' ');
  return space == std::string_view::npos ? device : device.substr(space + 1);
}

int NumDevices(const WorkerInfo& worker) {
  const std::string_view place = std::string_view(worker.device).substr(0, worker.device.find(' '));
  return 1 + static_cast<int>(std::count(place.begin(), place.end(), '+'));
}

bool FleetWorker::HoldsJobOf(const std::string& model) const {
  return std::any_of(held.begin(), held.end(),
                     [&](const auto& entry) { return entry.second.shape.model == model; });
}

absl::Duration FleetWorker::Backlog(const JobIds& without) const {
  absl::Duration sum;
  for (const auto& [job, mine] : held) {
    if (!without.contains(job)) sum += mine.left;
  }
  return sum;
}

}  // namespace reel::front
