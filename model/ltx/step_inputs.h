// SPDX-License-Identifier: Apache-2.0
// Joins what the steps of several videos give to one call of the transformer.
#pragma once

#include <vector>

#include "model/ltx/step_attempt.h"
#include "model/ltx/velocity_inputs.h"

namespace reel::model::ltx {

// The texts of those that stepped together last, side by side: made anew when others do.
class SharedText {
 public:
  const TextContext& Of(const std::vector<TextContext>& parts);

 private:
  std::vector<at::Tensor> of_;  // what stands for each of the parts; held, so that none is mistaken
  TextContext joined_;
};

// The times of several clips, one behind the other.
StepTimes Joined(const std::vector<Attempt*>& attempts);

}  // namespace reel::model::ltx
