// SPDX-License-Identifier: Apache-2.0
// The bytes that a video begins from, fetched by who renders it: its conditions, or the state of
// the video that it goes on from.
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

// Confined to the node's thread, where answers come, too. What it is given outlives it.
class Inputs {
 public:
  using Blobs = absl::StatusOr<std::vector<Conditions::Blob>>;
  using Done = absl::AnyInvocable<void(Blobs)>;
  Inputs(Conditions& conditions, States& states, const Sources& sources)
      : conditions_(conditions), states_(states), sources_(sources) {}

  // As AdoptedJob has them; none at once. An error with a Reason: nobody can render the video. Any
  // other may pass.
  void Fetch(const Video& video, Done done);

 private:
  void FetchState(const Video& video, Done done);

  Conditions& conditions_;
  States& states_;
  const Sources& sources_;
};

}  // namespace reel::front
