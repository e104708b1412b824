// SPDX-License-Identifier: Apache-2.0
// Refuses shapes that crash workers: two losses within ten minutes block a shape for ten more.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/scheduling/cost_model.h"

namespace reel::front {

// Confined to one thread. Times are of the monotonic clock.
class Quarantine {
 public:
  static constexpr absl::Duration kWindow = absl::Minutes(10);
  static constexpr int kLosses = 2;

  // A worker was lost while it ran only this shape.
  void Blame(const WorkShape& shape, absl::Duration now);
  // How long the shape is still refused; zero: it may run.
  absl::Duration Left(const WorkShape& shape, absl::Duration now) const;

 private:
  std::map<std::string, std::vector<absl::Duration>> losses_;
};

}  // namespace reel::front
