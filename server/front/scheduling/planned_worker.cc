// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/planned_worker.h"

#include <algorithm>
#include <set>
#include <utility>

namespace reel::front {
namespace {

// Plans are what callers ask for.
constexpr size_t kMostKinds = 256;
// Steps by which an engine tries again whether its jobs gain by sharing.
constexpr int kMostTried = 8;

}  // namespace

bool PlannedWorker::Packs(const WorkShape& like, size_t jobs, int64_t rows,
                          int64_t fill_rows) const {
  if (rows > fill_rows || steps_alone.contains(like.model)) return false;
  const auto kept = together.find({like.model, like.plan});
  return kept == together.end() || jobs <= kept->second.most;
}

bool PlannedWorker::SawStep(const StepSample& step) {
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

void PlannedWorker::SetSteps(const model::ModelCard& card) {
  steps_alone.erase(card.name);
  if (card.steps_alone) steps_alone.insert(card.name);
  std::erase_if(together, [&](const auto& kind) { return kind.first.first == card.name; });
}

std::string_view PlannedWorker::kind() const {
  const std::string_view device = info.device;
  const size_t space = device.find(' ');
  return space == std::string_view::npos ? device : device.substr(space + 1);
}

int NumDevices(const WorkerInfo& worker) {
  const std::string_view place = std::string_view(worker.device).substr(0, worker.device.find(' '));
  return 1 + static_cast<int>(std::count(place.begin(), place.end(), '+'));
}

bool PlannedWorker::HoldsJobOf(const std::string& model) const {
  return std::any_of(held.begin(), held.end(),
                     [&](const auto& entry) { return entry.second.shape.model == model; });
}

absl::Duration PlannedWorker::Backlog(const JobIds& without) const {
  absl::Duration sum;
  for (const auto& [job, mine] : held) {
    if (!without.contains(job)) sum += mine.left;
  }
  return sum;
}

namespace {

int64_t UsableOf(const PlannedWorker& worker) {
  return static_cast<int64_t>(static_cast<double>(worker.info.memory.total) * (1 - kMemoryMargin));
}

}  // namespace

int64_t WeightsOf(const std::string& model, const Cards& cards) {
  const auto card = cards.find(model);
  return card == cards.end() ? 0 : card->second.weight_bytes;
}

MemoryAccount AccountOf(const PlannedWorker& worker, const Cards& cards) {
  MemoryAccount account;
  account.usable = UsableOf(worker);
  if (account.usable <= 0) return {};
  // The margin is there for contexts: what is outside counts from there on.
  const int64_t margin = worker.info.memory.total - account.usable;
  account.outside = std::max<int64_t>(worker.info.memory.outside() - margin, 0);
  std::set<std::string> models = worker.loaded;
  models.insert(worker.loading.begin(), worker.loading.end());
  for (const std::string& model : models) account.weights += WeightsOf(model, cards);
  for (const auto& [id, held] : worker.held) account.jobs += held.memory_bytes;
  return account;
}

bool Fits(const PlannedWorker& worker, const Need& need, const Cards& cards, const JobIds& parked) {
  const MemoryAccount account = AccountOf(worker, cards);
  if (account.usable <= 0) return true;
  int64_t left = account.left();
  for (const auto& [id, held] : worker.held) {
    if (parked.contains(id)) left += held.memory_bytes;
  }
  return need.memory_bytes <= left;
}

std::optional<MemoryNeed> NeedAlone(const PlannedWorker& worker, const Need& need,
                                    const Cards& cards) {
  const int64_t usable = UsableOf(worker);
  if (usable <= 0) return std::nullopt;
  const int64_t weights = WeightsOf(need.model, cards);
  int64_t there = usable;
  for (const std::string& other : worker.loaded) {
    if (other != need.model && !worker.known.contains(other)) there -= WeightsOf(other, cards);
  }
  return MemoryNeed{need.memory_bytes + weights, std::max<int64_t>(there, 0)};
}

}  // namespace reel::front
