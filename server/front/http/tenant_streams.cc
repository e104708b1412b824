// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/tenant_streams.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

// A stream ends when its video does, which may be soon.
constexpr absl::Duration kTryAgain = absl::Seconds(5);

absl::Status Refuse(const std::string& tenant, int most) {
  ErrorDetails details;
  const std::string text =
      absl::StrCat("The tenant has too many open streams: ", most, ", the limit is ", most);
  details.metadata = {{"limit", absl::StrCat(most)}, {"value", absl::StrCat(most)}};
  details.quota_subject = "tenant:" + tenant;
  details.quota_description = text;
  details.retry_after = kTryAgain;
  return MakeError(Reason::kTenantQuota, text, details);
}

}  // namespace

TenantStreams::TenantStreams(int most) : most_(most), open_(std::make_shared<Open>()) {}

absl::StatusOr<std::shared_ptr<const void>> TenantStreams::Take(const std::string& tenant) const {
  if (most_ == 0) return nullptr;
  {
    MutexLock lock(open_->mutex);
    int& count = open_->count[tenant];
    if (count >= most_) return Refuse(tenant, most_);
    ++count;
  }
  const auto leave = [open = open_, tenant](const void*) {
    MutexLock lock(open->mutex);
    const auto found = open->count.find(tenant);
    if (--found->second == 0) open->count.erase(found);
  };
  return std::shared_ptr<const void>(open_.get(), leave);
}

}  // namespace reel::front
