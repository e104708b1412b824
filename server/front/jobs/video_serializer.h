// SPDX-License-Identifier: Apache-2.0
// Videos, cards and lists of kernels as bytes for the store and for other servers.
// stored_messages.h implements it; jobs/ and store/ know no protobuf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_listing.h"
#include "model/model_card.h"
#include "server/front/jobs/video.h"

namespace reel::front {

class VideoSerializer {
 public:
  virtual ~VideoSerializer() = default;
  // Everything of the video but its tenant.
  virtual std::string Serialize(const Video& video) const = 0;
  virtual absl::StatusOr<Video> Parse(std::string_view bytes) const = 0;
  virtual std::string SerializeCard(const model::ModelCard& card) const = 0;
  virtual absl::StatusOr<model::ModelCard> ParseCard(std::string_view bytes) const = 0;
  virtual std::string SerializeKernels(const std::vector<kernels::OpListing>& kernels) const = 0;
  virtual absl::StatusOr<std::vector<kernels::OpListing>> ParseKernels(
      std::string_view bytes) const = 0;
};

}  // namespace reel::front
