// SPDX-License-Identifier: Apache-2.0
// A plan of how weights are held (model/fit_plan.h), and the ring that it needs, for a load.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "model/fit_plan.h"
#include "model/layers/layer_ring.h"

namespace reel::model {

class FittedLoad {
 public:
  // All weights on the device.
  FittedLoad() = default;
  // The same without a plan. FAILED_PRECONDITION: the plan streams, and the device cannot copy
  // beside its work. Throws what libtorch throws.
  static absl::StatusOr<FittedLoad> Make(const std::optional<FitPlan>& plan, at::Device device);

  // Null: the text encoder is on the device.
  std::shared_ptr<LayerRing> text_ring() const {
    return plan_.text == Place::kHost ? ring_ : nullptr;
  }
  // Null: the encoder of pictures is on the device.
  std::shared_ptr<LayerRing> encoder_ring() const {
    return plan_.encoder == Place::kHost ? ring_ : nullptr;
  }
  // Null: all blocks are on the device.
  std::shared_ptr<LayerRing> block_ring() const {
    return plan_.streamed_blocks > 0 ? ring_ : nullptr;
  }
  bool Streams(int block) const { return plan_.streamed_blocks > 0 && IsStreamed(plan_, block); }

 private:
  FitPlan plan_;
  std::shared_ptr<LayerRing> ring_;
};

}  // namespace reel::model
