// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx2/guided_calls.h"

#include <vector>

namespace reel::model::ltx2 {
namespace {

// Which of the calls one is.
struct Pass {
  const PreparedTexts& texts;
  bool is_isolated = false;
  std::vector<int64_t> perturbed_blocks = {};
};

at::Tensor LastRow(const at::Tensor& rows) { return rows.slice(0, rows.size(0) - 1); }

// All calls at one level, at which both streams are.
class CallsAtLevel {
 public:
  CallsAtLevel(const Ops& ops, const Transformer& transformer, const DenoiseState& state,
               const StreamTokens& latents, const NoiseLevel& level)
      : ops_(ops), transformer_(transformer), state_(state), latents_(latents), level_(level) {}

  // What each row of the pass takes the clean latents to be.
  StreamTokens Clean(const Pass& pass) const {
    const at::Tensor sigma = at::full({}, level_.sigma, latents_.video.options());
    const auto clean = [&](const at::Tensor& x, const at::Tensor& velocity) {
      return x - velocity.to(at::kFloat) * sigma;
    };
    const StreamTokens velocity = transformer_.Velocity(ops_, InputsOf(pass));
    return {clean(latents_.video, velocity.video), clean(latents_.audio, velocity.audio)};
  }

 private:
  VelocityInputs InputsOf(const Pass& pass) const {
    const int64_t rows = pass.texts.video.tokens.size(0);
    const at::Tensor sigma = at::full({rows}, level_.time, latents_.video.options());
    // From 2.3 on the other stream's sigma counts towards it, which is the same here.
    const bool sees_other = transformer_.config().modulates_text;
    const StreamTimes times = {sigma.unsqueeze(1), sigma, sees_other ? sigma : at::Tensor()};
    const auto stream = [&](const at::Tensor& latents, const TextContext& text,
                            const StreamTables& tables) {
      const at::Tensor x = latents.expand({rows, -1, -1}).to(transformer_.dtype()).contiguous();
      return StreamInputs{.x = x, .times = times, .text = text, .tables = tables};
    };
    return {.video = stream(latents_.video, pass.texts.video, state_.video_tables),
            .audio = stream(latents_.audio, pass.texts.audio, state_.audio_tables),
            .is_isolated = pass.is_isolated,
            .perturbed_blocks = pass.perturbed_blocks};
  }

  const Ops& ops_;
  const Transformer& transformer_;
  const DenoiseState& state_;
  const StreamTokens& latents_;
  const NoiseLevel& level_;
};

}  // namespace

StreamTokens GuidedClean(const Ops& ops, const Transformer& transformer, const DenoiseState& state,
                         const StreamTokens& latents, const NoiseLevel& level) {
  const CallsAtLevel calls(ops, transformer, state, latents, level);
  const StreamGuidance& guidance = state.guidance;
  const StreamTokens of_texts = calls.Clean({state.texts});
  CleanLatents video = {.prompt = LastRow(of_texts.video)};
  CleanLatents audio = {.prompt = LastRow(of_texts.audio)};
  if (of_texts.video.size(0) > 1) {
    video.negative = of_texts.video.slice(0, 0, 1);
    audio.negative = of_texts.audio.slice(0, 0, 1);
  }
  // A model that cannot be perturbed would give the prompt's row again.
  if (guidance.uses_perturbed() && transformer.config().perturbs) {
    const StreamTokens perturbed = calls.Clean({state.prompt, false, guidance.perturbed_blocks});
    video.perturbed = perturbed.video;
    audio.perturbed = perturbed.audio;
  }
  if (guidance.uses_isolated()) {
    const StreamTokens isolated = calls.Clean({state.prompt, true});
    video.isolated = isolated.video;
    audio.isolated = isolated.audio;
  }
  return {GuideByDeltas(video, guidance.video), GuideByDeltas(audio, guidance.audio)};
}

}  // namespace reel::model::ltx2
