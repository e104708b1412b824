// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/loads.h"

#include <algorithm>
#include <utility>

#include "server/front/scheduling/places.h"

namespace reel::front {

std::optional<std::vector<std::string>> WhoMakesWay(const FleetWorker& worker, const Need& need,
                                                    const std::set<std::string>& wanted,
                                                    const Cards& cards) {
  const MemoryAccount account = AccountOf(worker, cards);
  if (account.usable <= 0) return std::vector<std::string>();
  const int64_t needed = need.memory_bytes + WeightsOf(need.model, cards);
  std::vector<std::pair<int64_t, std::string>> idle;
  for (const std::string& model : worker.loaded) {
    const bool stays = model == need.model || !worker.known.contains(model) ||
                       wanted.contains(model) || worker.HoldsJobOf(model);
    const auto used = worker.used.find(model);
    if (!stays) idle.emplace_back(used == worker.used.end() ? 0 : used->second, model);
  }
  std::sort(idle.begin(), idle.end());
  int64_t left = account.left();
  std::vector<std::string> leave;
  for (const auto& [used, model] : idle) {
    if (left >= needed) break;
    left += WeightsOf(model, cards);
    leave.push_back(model);
  }
  if (left < needed) return std::nullopt;
  return leave;
}

ModelWish WishFor(const WorkerTable& table, const Need& need, const std::set<std::string>& wanted,
                  absl::Duration now) {
  const FleetWorker* worker = Offering(table, need);
  if (worker == nullptr) return {};
  const auto before = worker->loading_since.find(need.model);
  const bool failed = worker->failed.contains(need.model);
  if (failed && before != worker->loading_since.end() && now - before->second < kLoadAgain) {
    return {};
  }
  auto leave = WhoMakesWay(*worker, need, wanted, table.cards());
  const bool must_rest = !leave.has_value();
  return {worker->info.name, std::move(leave).value_or(std::vector<std::string>()), must_rest};
}

}  // namespace reel::front
