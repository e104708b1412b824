// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/residency.h"

#include <algorithm>

#include "server/front/jobs/places.h"

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

Fleet::Names Residency::LoadFor(const Need& need, const std::set<std::string>& wanted) {
  const FleetWorker* worker = Offering(fleet_, need);
  if (worker == nullptr) return {};
  const std::string name = worker->info.name;
  const absl::Duration now = clock_.Monotonic();
  const auto before = begun_.find({name, need.model});
  const bool failed = worker->failed.contains(need.model);
  if (failed && before != begun_.end() && now - before->second < kLoadAgain) return {};
  const auto leave = WhoMakesWay(*worker, need, wanted, fleet_.cards());
  if (!leave) return {name};
  for (const std::string& model : *leave) {
    models_.PutOut(name, model);
    observer_.ModelPutOut(name);
  }
  begun_[{name, need.model}] = now;
  models_.LoadOn(name, need.model);
  return {};
}

}  // namespace reel::front
