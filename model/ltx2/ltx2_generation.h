// SPDX-License-Identifier: Apache-2.0
// One video with sound of an LTX-2 model in the making.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/conditions/condition_pictures.h"
#include "model/family/family_generation.h"
#include "model/family/held_latents.h"
#include "model/family/made_passes.h"
#include "model/ltx2/conditioning.h"
#include "model/ltx2/denoise_state.h"
#include "model/ltx2/prompts.h"
#include "model/ltx2/refined_clip.h"

namespace reel::model::ltx2 {

// A second pass that has not begun.
struct PlannedPass {
  LatentSizes sizes;
  Schedule schedule;
};

// A plain state: the pipeline moves it.
class Ltx2Generation final : public FamilyGeneration {
 public:
  Ltx2Generation(GenerationSpec resolved, at::Device model_device)
      : FamilyGeneration(std::move(resolved), model_device) {}

  PassSteps pass() const override { return {state.step, state.schedule.steps()}; }
  int later_steps() const override;
  int64_t rows() const override;
  int64_t adapter_ranks() const override { return RanksOf(state.adapters); }
  int64_t latents_that_stay() const override;
  int sound_pieces() const override;
  int sound_pieces_that_stay() const override;
  int64_t audio_tokens() const override { return sizes.audio; }
  TextFacts text_facts() const override { return texts; }
  FiniteCheck CheckLatents() const override {
    return {{state.latents.video, state.latents.audio}, step()};
  }
  // Without the tokens that conditions add.
  at::Tensor PictureLatents() const override;
  at::Tensor SoundLatents() const override;
  std::map<std::string, at::Generator> generators() const override;
  std::vector<at::Tensor> tensors() const override;
  void MoveTo(at::Device where) override;

  // The tokens of a pass, with those that conditions add.
  int64_t TokensOf(const LatentShape& shape) const {
    return (shape.frames + added_frames) * shape.height * shape.width +
           reference_frames * (shape.height / reference_part) * (shape.width / reference_part);
  }

  bool goes_on() const { return second_pass.has_value() && !is_draft(); }

  // Draws the noise of a diffusion decoder.
  const at::Generator& noise_generator() const {
    return decode_generator.has_value() ? *decode_generator : generator;
  }

  static constexpr char kGenerator[] = "generator", kStepGenerator[] = "step_generator",
                        kDecodeGenerator[] = "decode_generator";

  LatentSizes sizes;  // of the pass that is under way
  DenoiseState state;
  std::optional<PlannedPass> second_pass;  // until it begins; of a draft only planned
  std::optional<MadePasses> made;          // of a promotion: the first pass, until it is taken
  std::optional<RefinedClip> refined;      // in place of all that
  HeldLatents held;                        // of an extension or a retake; the request's own sound
  at::Generator generator;                 // the request's own, in the reference's order of draws
  // Set for a retake with a diffusion decoder: the generator that the source's decode began with,
  // so that the pictures it keeps come out the same.
  std::optional<at::Generator> decode_generator;

  // For EncodeNext: the adapters, then one text at a time, the negative first.
  bool has_adapters = false;
  std::vector<std::string> unread;
  std::vector<Texts> connected;  // [1, L, width] each
  TextFacts texts;
  // Then one condition at a time.
  Mode mode = Mode::kText;
  int64_t added_frames = 0;  // of latents, that conditions add in each pass
  // The same of a reference clip, whose sides are those of the pass over `reference_part`.
  int64_t reference_frames = 0, reference_part = 1;
  std::vector<PictureCondition> conditions;
  std::vector<EncodedCondition> encoded;
  std::shared_ptr<const ConditionSound> own_sound;  // until it is encoded
};

}  // namespace reel::model::ltx2
