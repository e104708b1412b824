// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/refusal.h"

#include "google/rpc/error_details.pb.h"

namespace reel::fakes {

Refusal MakeRefusal(int code, const std::string& reason, const std::string& message) {
  Refusal refusal;
  refusal.status.set_code(code);
  refusal.status.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("reel");
  refusal.status.add_details()->PackFrom(info);
  return refusal;
}

Refusal& AddRetryInfo(Refusal& refusal, int milliseconds) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  info.mutable_retry_delay()->set_nanos(milliseconds % 1000 * 1'000'000);
  refusal.status.add_details()->PackFrom(info);
  return refusal;
}

Refusal& AddViolation(Refusal& refusal, const std::string& field, const std::string& description) {
  google::rpc::BadRequest bad;
  for (auto& detail : *refusal.status.mutable_details()) {
    if (!detail.UnpackTo(&bad)) continue;
    auto* violation = bad.add_field_violations();
    violation->set_field(field);
    violation->set_description(description);
    detail.PackFrom(bad);
    return refusal;
  }
  refusal.status.add_details()->PackFrom(bad);
  return AddViolation(refusal, field, description);
}

}  // namespace reel::fakes
