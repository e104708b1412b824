// SPDX-License-Identifier: Apache-2.0
// The plan of a load (model/fit_plan.h), with the ring that it needs and the form of weights.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/fit_plan.h"
#include "model/host_memory.h"
#include "model/layers/layer_ring.h"

namespace reel::model {

class FittedLoad {
 public:
  // All weights on the device, in 16 bits or more.
  FittedLoad() = default;
  // The same without a plan. FAILED_PRECONDITION: the plan streams, and the device cannot copy
  // beside its work. RESOURCE_EXHAUSTED: the host has no room for what streams. Throws what
  // libtorch throws.
  static absl::StatusOr<FittedLoad> Make(const std::optional<FitPlan>& plan, at::Device device,
                                         const std::optional<HostMemory>& host = ReadHostMemory());

  FittedLoad InForm(WeightsForm form) const {
    FittedLoad load = *this;
    load.form_ = form;
    return load;
  }

  // Of the transformer's blocks.
  WeightsForm form() const { return form_; }
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
  // Whether the transformer's blocks are plain weights that stay where they are.
  bool HoldsPlainBlocks() const { return form_ == WeightsForm::k16 && plan_.streamed_blocks == 0; }
  bool Streams(int block) const { return plan_.streamed_blocks > 0 && IsStreamed(plan_, block); }

 private:
  FitPlan plan_;
  WeightsForm form_ = WeightsForm::k16;
  std::shared_ptr<LayerRing> ring_;
};

// FAILED_PRECONDITION, for a profile whose codes are made of weights that codes have replaced.
absl::Status NoOtherCodes();

}  // namespace reel::model
