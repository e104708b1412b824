// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/finite_check.h"

#include "absl/strings/str_cat.h"
#include "model/bridge/device_event.h"

namespace reel::model {

FiniteCheck::FiniteCheck(absl::Span<const at::Tensor> latents, int step) : step_(step) {
  is_finite_ = at::isfinite(latents[0]).all();
  for (const at::Tensor& x : latents.subspan(1)) {
    is_finite_ = is_finite_.logical_and(at::isfinite(x).all());
  }
  const at::Device device = latents[0].device();
  if (device.is_cpu()) return;
  const at::Tensor on_device = is_finite_;
  // Pinned: a copy to other memory would block.
  is_finite_ = at::empty({}, on_device.options().device(at::kCPU).pinned_memory(true))
                   .copy_(on_device, true);
  asked_ = AskedSoFar(device);
}

absl::Status FiniteCheck::Wait() const {
  if (asked_.has_value()) asked_->synchronize();
  if (is_finite_.item<bool>()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the latents contain NaN or Inf after step ", step_));
}

}  // namespace reel::model
