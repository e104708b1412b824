// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx2/guided_calls.h"

#include <utility>

namespace reel::model::ltx2 {

GuidedCalls::GuidedCalls(const Transformer& transformer, const DenoiseState& state,
                         StreamTokens latents, const NoiseLevel& level)
    : transformer_(transformer), state_(state), latents_(std::move(latents)), level_(level) {
  passes_.push_back(Kind::kTexts);
  // A model that cannot be perturbed would give the prompt's row again.
  if (state.guidance.uses_perturbed() && transformer.config().perturbs) {
    passes_.push_back(Kind::kPerturbed);
  }
  if (state.guidance.uses_isolated()) passes_.push_back(Kind::kIsolated);
}

void GuidedCalls::Next(const Ops& ops) {
  if (!walk_.has_value()) walk_.emplace(transformer_.Begin(ops, InputsOf(passes_[clean_.size()])));
  walk_->Next(ops);
  if (!walk_->done()) return;
  clean_.push_back(CleanBy(transformer_.End(ops, *walk_)));
  walk_.reset();
}

VelocityInputs GuidedCalls::InputsOf(Kind kind) const {
  const PreparedTexts& texts = kind == Kind::kTexts ? state_.texts : state_.prompt;
  const int64_t rows = texts.video.tokens.size(0);
  const at::Tensor sigma = at::full({rows}, level_.time, latents_.video.options());
  // From 2.3 on the other stream's sigma counts towards it, which is the same here.
  const bool sees_other = transformer_.config().modulates_text;
  const StreamTimes times = {sigma.unsqueeze(1), sigma, sees_other ? sigma : at::Tensor()};
  StreamTimes video_times = times;
  if (const Pins& pins = state_.pins; pins.exist()) {
    video_times.own = pins.free * level_.time;
    video_times.vector_of = pins.free_of.expand({rows, -1}).contiguous();
  }
  const auto stream = [&](const at::Tensor& latents, const StreamTimes& when,
                          const TextContext& text, const StreamTables& tables) {
    const at::Tensor x = latents.expand({rows, -1, -1}).to(transformer_.dtype()).contiguous();
    return StreamInputs{.x = x, .times = when, .text = text, .tables = tables};
  };
  VelocityInputs inputs = {
      .video = stream(latents_.video, video_times, texts.video, state_.video_tables),
      .audio = stream(latents_.audio, times, texts.audio, state_.audio_tables),
      .is_isolated = kind == Kind::kIsolated};
  if (kind == Kind::kPerturbed) inputs.perturbed_blocks = state_.guidance.perturbed_blocks;
  return inputs;
}

StreamTokens GuidedCalls::CleanBy(const StreamTokens& velocity) const {
  const at::Tensor sigma = at::full({}, level_.sigma, latents_.video.options());
  return {latents_.video - velocity.video.to(at::kFloat) * sigma,
          latents_.audio - velocity.audio.to(at::kFloat) * sigma};
}

StreamTokens GuidedCalls::Clean() const {
  CleanLatents video, audio;
  for (size_t i = 0; i < passes_.size(); ++i) {
    const StreamTokens& rows = clean_[i];
    switch (passes_[i]) {
      case Kind::kTexts: {
        const int64_t prompt = rows.video.size(0) - 1;
        video.prompt = rows.video.slice(0, prompt);
        audio.prompt = rows.audio.slice(0, prompt);
        if (prompt == 0) break;
        video.negative = rows.video.slice(0, 0, 1);
        audio.negative = rows.audio.slice(0, 0, 1);
        break;
      }
      case Kind::kPerturbed:
        video.perturbed = rows.video;
        audio.perturbed = rows.audio;
        break;
      case Kind::kIsolated:
        video.isolated = rows.video;
        audio.isolated = rows.audio;
        break;
    }
  }
  return {GuideByDeltas(video, state_.guidance.video), GuideByDeltas(audio, state_.guidance.audio)};
}

}  // namespace reel::model::ltx2
