// SPDX-License-Identifier: Apache-2.0
// One video of an LTX-Video model in the making.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/denoise/finite_check.h"
#include "model/frames/frame_source.h"
#include "model/ltx/conditioning.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/second_pass.h"
#include "model/pipeline.h"

namespace reel::model::ltx {

// A plain state: the pipeline moves it. All tensors are on the model's device but while it is
// parked.
class LtxGeneration final : public Generation {
 public:
  LtxGeneration(GenerationSpec resolved, at::Device model_device)
      : spec(std::move(resolved)), device(model_device) {}

  int step() const override { return steps_before + state.step - state.first_step; }
  int num_steps() const override {
    const int rest = second_pass.has_value() ? second_pass->steps() : 0;
    return steps_before + state.schedule.steps() - state.first_step + rest;
  }
  int64_t rows() const override;
  int64_t device_bytes() const override;
  TextFacts text_facts() const override { return texts; }
  int reused_steps() const override { return state.cache.reused_steps(); }
  // To the host's memory and back, bit for bit; on a CPU nothing moves. What a decoder holds stays:
  // a generation is parked before it decodes, or not at all.
  absl::Status Park(bool to_host) override;
  absl::Status Resume() override;

  const GenerationSpec spec;               // with pixels only where a second pass will need them
  const at::Device device;                 // the model's
  DenoiseState state;                      // of the pass that is under way
  std::optional<PlannedPass> second_pass;  // until it begins
  int steps_before = 0;                    // of the pass before this one
  int64_t planned_tokens = 0;              // what `state.tokens` will hold

  // For EncodeStage: text, then one condition at a time.
  bool has_text = false;
  TextFacts texts;
  std::vector<PictureCondition> conditions;
  size_t conditions_done = 0;
  std::optional<ConditionTokens> building;
  bool ready = false;

  std::optional<FiniteCheck> unchecked;  // of the latest step, whose numbers nobody has seen

  at::Tensor decode_noise;  // [1, C, F, h, w] on the host, from the last step to the decode
  FrameSourcePtr frames;    // once it decodes
  bool decoded = false;

  void MoveTo(at::Device where);

  mutable at::Tensor host_latents;  // what the last call of Latents gave out
};

}  // namespace reel::model::ltx
