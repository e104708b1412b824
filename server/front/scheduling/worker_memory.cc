// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/worker_memory.h"

#include <algorithm>
#include <set>

namespace reel::front {
namespace {

int64_t UsableOf(const FleetWorker& worker) {
  return static_cast<int64_t>(static_cast<double>(worker.info.memory.total) * (1 - kMemoryMargin));
}

}  // namespace

int64_t WeightsOf(const std::string& model, const Cards& cards) {
  const auto card = cards.find(model);
  return card == cards.end() ? 0 : card->second.weight_bytes;
}

MemoryAccount AccountOf(const FleetWorker& worker, const Cards& cards) {
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

bool Fits(const FleetWorker& worker, const Need& need, const Cards& cards, const JobIds& parked) {
  const MemoryAccount account = AccountOf(worker, cards);
  if (account.usable <= 0) return true;
  int64_t left = account.left();
  for (const auto& [id, held] : worker.held) {
    if (parked.contains(id)) left += held.memory_bytes;
  }
  return need.memory_bytes <= left;
}

std::optional<MemoryNeed> NeedAlone(const FleetWorker& worker, const Need& need,
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
