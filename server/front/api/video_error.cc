// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_error.h"

#include "absl/strings/cord.h"
#include "google/rpc/error_details.pb.h"

namespace reel::front {
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
