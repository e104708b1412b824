// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/finite_check.h"

#include "absl/strings/str_cat.h"
#include "model/bridge/device_event.h"

namespace reel::model {

FiniteCheck::FiniteCheck(const at::Tensor& x, int step) : step_(step) {
  is_finite_ = at::isfinite(x).all();
  if (x.device().is_cpu()) return;
  const at::Tensor on_device = is_finite_;
  // Pinned: to other memory a copy is not asked for, but waited for.
  is_finite_ = at::empty({}, on_device.options().device(at::kCPU).pinned_memory(true))
                   .copy_(on_device, true);
  asked_ = AskedSoFar(x.device());
}

absl::Status FiniteCheck::Wait() const {
  if (asked_.has_value()) asked_->synchronize();
  if (is_finite_.item<bool>()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the latents contain NaN or Inf after step ", step_));
}

}  // namespace reel::model
