// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/replica.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {
namespace {

ErrorDetails DetailsOf(const std::string& name) {
  ErrorDetails details;
  details.metadata = {{"video", name}};
  details.resource_type = "video";
  details.resource_name = name;
  return details;
}

}  // namespace

bool Replica::TakeUp(Kept kept) {
  known_ = std::move(kept);
  name_ = configured_;
  for (const auto& [name, what] : known_) {
    if (name_.empty() && what == kDrawn) name_ = name;
  }
  if (name_.empty()) name_ = NewReplica();
  return known_.emplace(name_, what()).second;
}

absl::Status Replica::NotFound(const std::string& id) const {
  const std::string name = absl::StrCat("videos/", id);
  ErrorDetails details = DetailsOf(name);
  const std::string theirs(ReplicaOf(id));
  if (theirs.empty() || known_.contains(theirs)) {
    return MakeError(Reason::kVideoNotFound, absl::StrCat("No such video: ", name), details);
  }
  details.metadata["replica"] = theirs;
  details.metadata["this_replica"] = name_;
  return MakeError(Reason::kWrongReplica,
                   absl::StrCat("The video is on another server: its name is of replica ", theirs,
                                ", and this is replica ", name_, ": ", name),
                   details);
}

}  // namespace reel::front
