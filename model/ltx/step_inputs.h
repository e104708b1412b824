// SPDX-License-Identifier: Apache-2.0
// Joins the steps of several videos of one size to the inputs of one call of the transformer.
#pragma once

#include <vector>

#include "model/ltx/step_attempt.h"
#include "model/ltx/velocity_inputs.h"

namespace reel::model::ltx {

// The joined texts of the videos that stepped together last; joined again when other videos do.
class JoinedTexts {
 public:
  const TextContext& Of(const std::vector<TextContext>& parts);

 private:
  std::vector<at::Tensor>
      of_;  // the keys of each part; held, so that no new tensor is taken for one
  TextContext joined_;
};

// What a video gives to a call; the attempt is borrowed.
struct StepInputs {
  Attempt* attempt;
  at::Tensor x;      // its tokens [1, S, C], in the model's type
  TextContext text;  // of each of its rows
};

// Where there are several videos, none of them is perturbed.
VelocityInputs JoinedInputs(const std::vector<StepInputs>& videos, JoinedTexts& texts);

}  // namespace reel::model::ltx
