// SPDX-License-Identifier: Apache-2.0
#include "server/front/stored_messages.h"

#include "server/convert/convert.h"
#include "server/convert/worker_convert.h"
#include "server/front/api/video_convert.h"

namespace reel::front {

std::string StoredMessages::Serialize(const Video& video) const {
  return VideoToProto(video).SerializeAsString();
}

absl::StatusOr<Video> StoredMessages::Parse(std::string_view bytes) const {
  v1::Video proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("A stored video cannot be read");
  }
  return VideoFromProto(proto);
}

std::string StoredMessages::SerializeCard(const model::ModelCard& card) const {
  return CardToModelState(card).SerializeAsString();
}

absl::StatusOr<model::ModelCard> StoredMessages::ParseCard(std::string_view bytes) const {
  worker::v1::ModelState proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("A stored model card cannot be read");
  }
  return CardFromModelState(proto);
}

std::string StoredMessages::SerializeKernels(const std::vector<kernels::OpListing>& kernels) const {
  v1::ListKernelsResponse proto;
  for (const kernels::OpListing& op : kernels) *proto.add_ops() = ListingToProto(op, "");
  return proto.SerializeAsString();
}

absl::StatusOr<std::vector<kernels::OpListing>> StoredMessages::ParseKernels(
    std::string_view bytes) const {
  v1::ListKernelsResponse proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("A list of kernels cannot be read");
  }
  std::vector<kernels::OpListing> kernels;
  for (const v1::KernelOp& op : proto.ops()) kernels.push_back(ListingFromProto(op));
  return kernels;
}

}  // namespace reel::front
