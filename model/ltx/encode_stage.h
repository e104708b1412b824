// SPDX-License-Identifier: Apache-2.0
// Text and conditions: from a request to a generation that can step, with its first tokens; and the
// tokens of its second pass.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/conditions/condition_pictures.h"
#include "model/conditions/condition_tokens.h"
#include "model/ltx/ltx_generation.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/presets.h"

namespace reel::model::ltx {

// A generator with the request's seed, before its first draw.
at::Generator GeneratorOf(const GenerationSpec& spec);
// The coordinates that the condition pipeline gives latents.
ClipPlaces PlacesOf(double frame_rate);
// The rotary tables of a clip's tokens, on the model's device.
RopeTable RopeOf(const LtxModel& model, const ClipTokens& tokens);

// Borrows model and card for the time of a call; throws what libtorch throws.
class EncodeStage {
 public:
  EncodeStage(LtxModel& model, const ModelCard& card) : model_(model), card_(card) {}

  // Nothing is encoded yet. INVALID_ARGUMENT names the value and the rule.
  absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(const GenerationSpec& resolved) const;

  // Takes the first pass of a promotion, which is not made again, or what an extension or a retake
  // holds. FAILED_PRECONDITION names what does not fit.
  absl::Status Restore(LtxGeneration& generation, const PassState& made) const;

  // One bounded piece: the adapters, the texts, or a condition, or the tokens, which make it ready;
  // for the first generation in 8 bits the weights for it. A promotion begins its second pass in
  // place of conditions and tokens, and so does a refinement, whose clip is encoded in pieces.
  absl::Status Next(LtxGeneration& generation, const Ops& ops) const;

  // The first pass's latents, upsampled and noised, and the conditions once more at the new size.
  // The generation is changed at the end only: what fails can be tried again.
  absl::Status SecondPass(LtxGeneration& generation, const Ops& ops) const;

 private:
  // Sets size, schedule, guidance and conditions of the first pass.
  absl::Status PlanClip(const GenerationSpec& spec, LtxGeneration& generation) const;
  // Which pipeline makes it, and in which passes; the size of the first of them.
  absl::StatusOr<PictureSize> PlanPasses(const Recipe& recipe, LtxGeneration& generation) const;
  absl::Status Adapters(LtxGeneration& generation) const;
  TextContext Prepared(const Ops& ops, const AppliedAdapters& adapters,
                       const at::Tensor& embeddings, const at::Tensor& mask) const;
  absl::Status Text(LtxGeneration& generation, const Ops& ops) const;
  absl::Status Hold(LtxGeneration& generation, const PassState& source) const;
  void FinishTokens(LtxGeneration& generation, const Ops& ops) const;
  // The second pass, from the first that was restored.
  absl::Status GoOn(LtxGeneration& generation, const Ops& ops) const;
  // A sample of what the autoencoder says of `pixels`, drawn from `generator`, not normalised.
  at::Tensor Sample(const Ops& ops, const at::Tensor& pixels, at::Generator& generator) const;
  EncodedCondition Encode(const Ops& ops, const PictureCondition& condition,
                          at::Generator& generator) const;
  int64_t channels() const;

  LtxModel& model_;
  const ModelCard& card_;
};

}  // namespace reel::model::ltx
