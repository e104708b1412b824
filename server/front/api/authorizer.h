// SPDX-License-Identifier: Apache-2.0
// Says who calls, and whether they may; and the names by which one call is found again in logs and
// traces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/api/method_table.h"
#include "server/front/config/token_table.h"
#include "server/front/jobs/video.h"

namespace reel::front {

// Metadata by which a node names the tenant for whom it asks another one. Looked at by the listener
// for nodes alone; to all others it says nothing.
inline constexpr char kPeersTenantKey[] = "x-reel-tenant";

// True for 8-4-4-4-12 hexadecimal digits, either case.
bool IsUuid(std::string_view text);
// A random UUID (version 4), lower case.
std::string DrawUuid();
// The same UUID for the same text (version 5), lower case.
std::string UuidOfName(std::string_view name);

// The trace id of a W3C traceparent header (32 lower-case hex digits); empty when the header is
// invalid, which is then as if it were not there.
std::string TraceIdOf(std::string_view traceparent);
// The span that the header names, and whether the caller records its trace; nothing of an invalid
// one.
CallerSpan CallerSpanOf(std::string_view traceparent);
// Random, not all zero.
std::string DrawTraceId();

// Whose videos a caller may see and end.
Reach ReachOf(const Principal& principal);

// Whether a stream that began as `before` may go on as `now`: its video may be another tenant's.
// UNAUTHENTICATED, PERMISSION_DENIED.
absl::Status StillReaches(const Principal& before, const Principal& now);

// Thread-safe; the tokens can be replaced while calls run.
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
