// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/shown_error.h"

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {

absl::Status ShownToClients(const absl::Status& status) {
  if (ReasonOf(status)) return status;
  if (absl::IsCancelled(status)) {
    return MakeError(Reason::kOwnerLeft, "The call was cancelled by its caller");
  }
  Log(LogLevel::kError, "An error without a reason reached a call", {{"error", status}});
  return MakeError(Reason::kInternal, "An error inside the server");
}

namespace {

constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";

}  // namespace

absl::Status WithVideo(absl::Status status, const std::string& id) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  google::rpc::ErrorInfo info;
  if (!payload || !info.ParseFromString(std::string(*payload))) return status;
  (*info.mutable_metadata())["video"] = "videos/" + id;
  status.SetPayload(kErrorInfoUrl, absl::Cord(info.SerializeAsString()));
  return status;
}

}  // namespace reel::front
