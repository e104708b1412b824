// SPDX-License-Identifier: Apache-2.0
// Fetches the bytes that a video starts from: its conditions, or the state of the video that it
// continues.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/front/node/conditions.h"
#include "server/front/node/sources.h"
#include "server/front/node/states.h"

namespace reel::front {

// Confined to the node's thread, which also runs the callbacks. Arguments outlive it.
class Inputs {
 public:
  using Blobs = absl::StatusOr<std::vector<Conditions::Blob>>;
  using Done = absl::AnyInvocable<void(Blobs)>;
  Inputs(Conditions& conditions, States& states, const Sources& sources)
      : conditions_(conditions), states_(states), sources_(sources) {}

  // In the order of AdoptedJob; answers at once if there are none. An error with a Reason is final:
  // no node can render the video. Others may be retried.
  void Fetch(const Video& video, Done done);

 private:
  void FetchState(const Video& video, Done done);

  Conditions& conditions_;
  States& states_;
  const Sources& sources_;
};

}  // namespace reel::front
