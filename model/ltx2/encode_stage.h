// SPDX-License-Identifier: Apache-2.0
// From a request to a generation that can step: its passes, its texts and its first tokens.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/ltx2/ltx2_model.h"
#include "model/model_card.h"
#include "model/pass_work.h"

namespace reel::model::ltx2 {

// Borrows model and card for the time of a call; throws what libtorch throws.
class EncodeStage {
 public:
  EncodeStage(Ltx2Model& model, const ModelCard& card) : model_(model), card_(card) {}

  // Nothing is encoded yet. INVALID_ARGUMENT names the value and the rule.
  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& resolved) const;
  // Takes the first pass of a promotion, which is not made again, or what an extension or a retake
  // holds. FAILED_PRECONDITION names what does not fit.
  absl::Status Restore(Ltx2Generation& generation, const PassState& made) const;
  // One bounded piece: a text, the sound or a condition at a time, then the noise, which makes it
  // ready. A promotion begins its second pass in place of conditions and noise, and so does a
  // refinement, whose clip is encoded in pieces.
  absl::Status Next(Ltx2Generation& generation, const Ops& ops) const;

 private:
  absl::Status CheckShape(const GenerationSpec& spec) const;
  absl::StatusOr<LatentSizes> SizesOf(const GenerationSpec& spec, const PassWork& pass) const;
  absl::Status PlanPasses(Ltx2Generation& generation) const;
  // Passes, conditions and schedule; of a refinement its windows.
  absl::Status PlanClip(const GenerationSpec& spec, Ltx2Generation& generation) const;
  // That no pass has more tokens than the model takes, with those that conditions add.
  absl::Status CheckTokens(const Ltx2Generation& generation) const;
  void AddNotices(Ltx2Generation& generation) const;
  absl::Status ReadText(Ltx2Generation& generation, const Ops& ops) const;
  absl::Status Hold(Ltx2Generation& generation, const PassState& source) const;
  // Noise, and what latents of another video pin of its pictures.
  DenoiseState HeldState(Ltx2Generation& generation, const Ops& ops, const Texts& texts) const;
  // Noise, and what conditions pin.
  DenoiseState FirstState(Ltx2Generation& generation, const Ops& ops) const;
  void Begin(Ltx2Generation& generation, const Ops& ops) const;
  // The second pass, from the first that was restored.
  absl::Status GoOn(Ltx2Generation& generation, const Ops& ops) const;
  // One piece of the clip that is refined, then its first window.
  absl::Status Refine(Ltx2Generation& generation, const Ops& ops) const;
  // Replaces the generation's state, but for what Plan has set of it.
  void SetState(Ltx2Generation& generation, DenoiseState begun) const;

  Ltx2Model& model_;
  const ModelCard& card_;
};

}  // namespace reel::model::ltx2
