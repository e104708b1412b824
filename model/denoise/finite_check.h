// SPDX-License-Identifier: Apache-2.0
// Checks that all numbers of tensors are finite, without stopping the device for the answer.
#pragma once

#include <c10/core/Event.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/bridge/aten.h"

namespace reel::model {

class FiniteCheck {
 public:
  // Asks, of one tensor or more on one device. What becomes of them afterwards does not matter.
  // `step` is for the message.
  FiniteCheck(absl::Span<const at::Tensor> latents, int step);

  // Waits for the answer, and so for all that the device was asked for before the question.
  // DATA_LOSS for NaN or Inf; throws what libtorch throws.
  absl::Status Wait() const;

 private:
  int step_;
  at::Tensor is_finite_;             // [] on the host
  std::optional<c10::Event> asked_;  // none on a CPU
};

}  // namespace reel::model
