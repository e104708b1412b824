// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx2/denoiser.h"

#include <vector>

#include "model/bridge/random.h"

namespace reel::model::ltx2 {
namespace {

// Which of a step's calls of the transformer one is.
struct Pass {
  const PreparedTexts& texts;
  bool is_isolated = false;
  std::vector<int64_t> perturbed_blocks = {};
};

at::Tensor SigmaOf(const DenoiseState& state, size_t ahead) {
  const float sigma = state.schedule.sigmas[static_cast<size_t>(state.step) + ahead];
  return at::full({}, sigma, state.latents.video.options());
}

// The calls of one step of a clip, whose streams have the same sigma.
class StepCalls {
 public:
  StepCalls(const Ops& ops, const Transformer& transformer, const DenoiseState& state)
      : ops_(ops), transformer_(transformer), state_(state) {}

  // What the guidance takes the clean latents to be.
  StreamTokens GuidedClean() const {
    const StreamGuidance& guidance = state_.guidance;
    const StreamTokens of_texts = Clean({state_.texts});
    CleanLatents video = {.prompt = Last(of_texts.video)}, audio = {.prompt = Last(of_texts.audio)};
    if (of_texts.video.size(0) > 1) {
      video.negative = of_texts.video.slice(0, 0, 1);
      audio.negative = of_texts.audio.slice(0, 0, 1);
    }
    // A model that cannot be perturbed would give the prompt's row again.
    if (guidance.uses_perturbed() && transformer_.config().perturbs) {
      const StreamTokens perturbed = Clean({state_.prompt, false, guidance.perturbed_blocks});
      video.perturbed = perturbed.video;
      audio.perturbed = perturbed.audio;
    }
    if (guidance.uses_isolated()) {
      const StreamTokens isolated = Clean({state_.prompt, true});
      video.isolated = isolated.video;
      audio.isolated = isolated.audio;
    }
    return {GuideByDeltas(video, guidance.video), GuideByDeltas(audio, guidance.audio)};
  }

 private:
  static at::Tensor Last(const at::Tensor& rows) { return rows.slice(0, rows.size(0) - 1); }

  // What each row of the pass takes the clean latents to be.
  StreamTokens Clean(const Pass& pass) const {
    const at::Tensor sigma = SigmaOf(state_, 0);
    const auto clean = [&](const at::Tensor& x, const at::Tensor& velocity) {
      return x - velocity.to(at::kFloat) * sigma;
    };
    const StreamTokens velocity = transformer_.Velocity(ops_, InputsOf(pass));
    return {clean(state_.latents.video, velocity.video),
            clean(state_.latents.audio, velocity.audio)};
  }

  VelocityInputs InputsOf(const Pass& pass) const {
    const int64_t rows = pass.texts.video.tokens.size(0);
    const float now = state_.schedule.timesteps[static_cast<size_t>(state_.step)];
    const at::Tensor sigma = at::full({rows}, now, state_.latents.video.options());
    // From 2.3 on the other stream's sigma counts towards it, which is the same here.
    const bool sees_other = transformer_.config().modulates_text;
    const StreamTimes times = {sigma.unsqueeze(1), sigma, sees_other ? sigma : at::Tensor()};
    const auto stream = [&](const at::Tensor& latents, const TextContext& text,
                            const StreamTables& tables) {
      const at::Tensor x = latents.expand({rows, -1, -1}).to(transformer_.dtype()).contiguous();
      return StreamInputs{.x = x, .times = times, .text = text, .tables = tables};
    };
    return {.video = stream(state_.latents.video, pass.texts.video, state_.video_tables),
            .audio = stream(state_.latents.audio, pass.texts.audio, state_.audio_tables),
            .is_isolated = pass.is_isolated,
            .perturbed_blocks = pass.perturbed_blocks};
  }

  const Ops& ops_;
  const Transformer& transformer_;
  const DenoiseState& state_;
};

}  // namespace

void Step(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  const StreamTokens clean = StepCalls(ops, transformer, state).GuidedClean();
  const StreamTokens& x = state.latents;
  const SigmaStep step = {SigmaOf(state, 0), SigmaOf(state, 1)};
  if (state.sampler == Sampler::kEuler) {
    state.latents = {EulerMoved(x.video, clean.video, step),
                     EulerMoved(x.audio, clean.audio, step)};
  } else {
    at::Generator generator = state.step_generator.clone();
    const bool is_last = state.step + 1 == state.schedule.steps();
    const auto noise = [&](const at::Tensor& like) {
      return is_last ? at::Tensor() : DrawNormal(like.sizes(), generator, like.options());
    };
    const at::Tensor video = AncestralMoved(x.video, clean.video, step, noise(x.video));
    const at::Tensor audio = AncestralMoved(x.audio, clean.audio, step, noise(x.audio));
    state.latents = {video, audio};
    state.step_generator = generator;
  }
  ++state.step;
}

}  // namespace reel::model::ltx2
