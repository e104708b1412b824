// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/tenant_bytes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr absl::Duration kRetry = absl::Seconds(30);

}  // namespace

std::optional<int64_t> ReservationFor(const OutputSize& output, int64_t conditions,
                                      const TenantBytes& tenant) {
  if (!tenant.limited()) return output.most;
  const int64_t room = tenant.room() - conditions;
  if (room <= 0 || output.likely > room) return std::nullopt;
  return std::min(output.most, room);
}

absl::Status TooManyBytes(const std::string& tenant, const TenantBytes& bytes, int64_t needed,
                          const std::string& video) {
  ErrorDetails details;
  details.metadata = {{"held", absl::StrCat(bytes.held)},
                      {"reserved", absl::StrCat(bytes.reserved)},
                      {"needed", absl::StrCat(needed)},
                      {"limit", absl::StrCat(bytes.allowed)},
                      {"value", absl::StrCat(bytes.held + bytes.reserved)}};
  if (!video.empty()) details.metadata["video"] = video;
  details.quota_subject = "tenant:" + tenant;
  details.retry_after = kRetry;
  const std::string text =
      absl::StrCat("The tenant's limit of stored bytes is too small for this video: it needs ",
                   needed, "; ", bytes.held, " are held and ", bytes.reserved,
                   " reserved by queued and running videos, of ", bytes.allowed, " allowed");
  details.quota_description = text;
  return MakeError(Reason::kTenantQuota, text, details);
}

}  // namespace reel::front
