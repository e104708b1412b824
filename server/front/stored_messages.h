// SPDX-License-Identifier: Apache-2.0
// Videos and cards as the store keeps them: serialised messages. Beside app.cc, since it needs both
// the API's messages and the workers'.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/front/jobs/video.h"

namespace reel::front {

// Stateless; thread-safe.
class StoredMessages final : public VideoSerializer {
 public:
  std::string Serialize(const Video& video) const override;
  absl::StatusOr<Video> Parse(std::string_view bytes) const override;
  std::string SerializeCard(const model::ModelCard& card) const override;
  absl::StatusOr<model::ModelCard> ParseCard(std::string_view bytes) const override;
  std::string SerializeKernels(const std::vector<kernels::OpListing>& kernels) const override;
  absl::StatusOr<std::vector<kernels::OpListing>> ParseKernels(
      std::string_view bytes) const override;
};

}  // namespace reel::front
