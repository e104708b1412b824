// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/quarantine.h"

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

std::string KeyOf(const WorkShape& shape) {
  std::string key = absl::StrCat(shape.model, "\t", shape.plan, "\t", shape.frame_pixels);
  for (const model::PassWork& pass : shape.passes) {
    absl::StrAppend(&key, "\t", pass.tokens, "\t", pass.rows);
  }
  return key;
}

}  // namespace

void Quarantine::Blame(const WorkShape& shape, absl::Duration now) {
  // What is too old to count goes, so that the map is as small as the trouble.
  std::erase_if(losses_, [now](const auto& entry) { return entry.second.back() < now - kWindow; });
  std::vector<absl::Duration>& losses = losses_[KeyOf(shape)];
  std::erase_if(losses, [now](absl::Duration loss) { return loss < now - kWindow; });
  losses.push_back(now);
}

absl::Duration Quarantine::Left(const WorkShape& shape, absl::Duration now) const {
  const auto found = losses_.find(KeyOf(shape));
  if (found == losses_.end() || static_cast<int>(found->second.size()) < kLosses) {
    return absl::ZeroDuration();
  }
  return std::max(found->second.back() + kWindow - now, absl::ZeroDuration());
}

}  // namespace reel::front
