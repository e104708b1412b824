// SPDX-License-Identifier: Apache-2.0
// Says who calls, and whether they may. Thread-safe; the tokens can be replaced while calls run.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/api/method_table.h"
#include "server/front/config/token_table.h"
#include "server/front/jobs/video.h"

namespace reel::front {

// Whose videos a caller may see and end.
Reach ReachOf(const Principal& principal);

// Whether a stream that began as `before` may go on as `now`: its video may be another tenant's.
// UNAUTHENTICATED, PERMISSION_DENIED.
absl::Status StillReaches(const Principal& before, const Principal& now);

class Authorizer {
 public:
  // Nobody needs a token: everybody is the tenant "default" and may do everything.
  Authorizer() = default;
  explicit Authorizer(TokenTable tokens);

  // `authorization`: the value of that metadata key, empty if there is none, e.g. "Bearer abc".
  // UNAUTHENTICATED without a known token, PERMISSION_DENIED when the role does not reach.
  absl::StatusOr<Principal> Authorize(std::string_view authorization, Method method) const;

  // Has no effect where no tokens are needed: that is decided at the start.
  void Replace(TokenTable tokens);

 private:
  std::shared_ptr<const TokenTable> tokens() const;

  mutable Mutex mutex_;
  std::shared_ptr<const TokenTable> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
