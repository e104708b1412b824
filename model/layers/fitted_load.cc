// SPDX-License-Identifier: Apache-2.0
#include "model/layers/fitted_load.h"

#include "kernels/base/status_macros.h"

namespace reel::model {

absl::StatusOr<FittedLoad> FittedLoad::Make(const std::optional<FitPlan>& plan, at::Device device,
                                            const std::optional<HostMemory>& host) {
  FittedLoad load;
  if (!plan.has_value()) return load;
  load.plan_ = *plan;
  if (plan->ring_slots == 0) return load;
  REEL_RETURN_IF_ERROR(CheckHostMemory(*plan, host));
  load.ring_ = LayerRing::Make(device, static_cast<size_t>(plan->ring_slots), plan->slot_bytes);
  if (load.ring_ == nullptr) {
    return absl::FailedPreconditionError(
        "the model does not fit the device as a whole, and libreel_torch_cuda.so, which streams "
        "weights, does not lie beside libreel_cuda.so");
  }
  return load;
}

absl::Status NoOtherCodes() {
  return absl::FailedPreconditionError(
      "the weights are held in e4m3 alone (weights_form), of which no others are made");
}

}  // namespace reel::model
