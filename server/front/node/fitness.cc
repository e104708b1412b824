// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fitness.h"

#include "absl/strings/str_cat.h"
#include "server/logging/log.h"

namespace reel::front {

void Fitness::Set(Unfit what, const std::string& why) {
  bool was_set = false;
  {
    const MutexLock lock(mutex_);
    was_set = reasons_.contains(what);
    if (why.empty()) {
      reasons_.erase(what);
    } else {
      reasons_[what] = why;
    }
  }
  if (was_set == !why.empty()) return;
  if (why.empty()) {
    Log(LogLevel::kInfo, "This node claims videos of the fleet again");
  } else {
    Log(LogLevel::kError, "This node claims no videos of the fleet for now", {{"why", why}});
  }
}

bool Fitness::fit() const {
  const MutexLock lock(mutex_);
  return reasons_.empty();
}

std::array<bool, kUnfits> Fitness::All() const {
  std::array<bool, kUnfits> all{};
  const MutexLock lock(mutex_);
  for (const auto& [what, why] : reasons_) all[static_cast<size_t>(what)] = true;
  return all;
}

std::string Fitness::Why() const {
  std::string all;
  const MutexLock lock(mutex_);
  for (const auto& [what, why] : reasons_) absl::StrAppend(&all, all.empty() ? "" : "; ", why);
  return all;
}

}  // namespace reel::front
