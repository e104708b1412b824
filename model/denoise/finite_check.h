// SPDX-License-Identifier: Apache-2.0
// Checks that all numbers of tensors are finite, without stopping the device for the result.
#pragma once

#include <c10/core/Event.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/bridge/aten.h"

namespace reel::model {

class FiniteCheck {
 public:
  // Starts the check of one or more tensors on one device, which may change afterwards. `step` is
  // for the message.
  FiniteCheck(absl::Span<const at::Tensor> latents, int step);

  // Waits for the result, and so for all earlier work of the device. DATA_LOSS for NaN or Inf;
  // throws libtorch's exceptions.
  absl::Status Wait() const;

 private:
  int step_;
  at::Tensor is_finite_;             // a scalar on the host
  std::optional<c10::Event> asked_;  // none on a CPU
};

}  // namespace reel::model
