// SPDX-License-Identifier: Apache-2.0
// One video of an LTX-Video model in the making.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/conditions/condition_pictures.h"
#include "model/conditions/condition_tokens.h"
#include "model/family/clip_in_windows.h"
#include "model/family/family_generation.h"
#include "model/family/held_latents.h"
#include "model/family/made_passes.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/second_pass.h"

namespace reel::model::ltx {

// A plain state: the pipeline moves it.
class LtxGeneration final : public FamilyGeneration {
 public:
  LtxGeneration(GenerationSpec resolved, at::Device model_device)
      : FamilyGeneration(std::move(resolved), model_device) {}

  PassSteps pass() const override { return state.pass(); }
  int later_steps() const override;
  int64_t rows() const override;
  TextFacts text_facts() const override { return texts; }
  int64_t adapter_ranks() const override { return RanksOf(state.adapters); }
  int reused_steps() const override { return state.cache.reused_steps(); }
  FiniteCheck CheckLatents() const override { return {{state.tokens.x}, step()}; }
  int64_t latents_that_stay() const override;
  at::Tensor PictureLatents() const override;
  at::Tensor DecodeNoise() const override { return decode_noise; }
  std::map<std::string, at::Generator> generators() const override {
    return {{kOtherGenerator, state.other_generator}};
  }
  std::vector<at::Tensor> tensors() const override;
  void MoveTo(at::Device where) override;

  bool goes_on() const { return second_pass.has_value() && !is_draft(); }

  static constexpr char kOtherGenerator[] = "other_generator";

  DenoiseState state;                      // of the pass that is under way
  std::optional<PlannedPass> second_pass;  // until it begins; of a draft only planned
  std::optional<MadePasses> made;          // of a promotion: the first pass, until it is taken
  std::optional<ClipInWindows> refined;    // in place of all that
  bool decodes_whole = false;              // it can only be decoded once all latents are there
  HeldLatents held;                        // of an extension or a retake
  int64_t planned_tokens = 0;              // what `state.tokens` will hold

  // For EncodeStage: adapters, text, then one condition at a time.
  bool has_adapters = false;
  bool has_text = false;
  TextFacts texts;
  // The texts as they were encoded, for a second pass that takes other scales of adapters;
  // undefined: there is none, or it has begun.
  at::Tensor embeddings, text_mask;
  std::vector<PictureCondition> conditions;
  size_t conditions_done = 0;
  std::optional<ConditionTokens> building;

  // [1, C, F, h, w] on the host: from the last step on, of a refined clip from its first window on.
  at::Tensor decode_noise;
};

}  // namespace reel::model::ltx
