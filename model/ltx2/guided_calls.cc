// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx2/guided_calls.h"

#include <utility>

namespace reel::model::ltx2 {

GuidedCalls::GuidedCalls(const Transformer& transformer, ClipCall clip)
    : transformer_(transformer), clip_(std::move(clip)) {
  const StreamGuidance& guidance = clip_.state->guidance;
  passes_.push_back(Kind::kTexts);
  // A model that cannot be perturbed would give the prompt's row again.
  if (guidance.uses_perturbed() && transformer.config().perturbs) {
    passes_.push_back(Kind::kPerturbed);
  }
  if (guidance.uses_isolated()) passes_.push_back(Kind::kIsolated);
}

void GuidedCalls::Next(const Ops& ops) {
  if (!walk_.has_value()) walk_.emplace(transformer_.Begin(ops, InputsOf(passes_[clean_.size()])));
  walk_->Next(ops);
  if (!walk_->done()) return;
  clean_.push_back(CleanBy(transformer_.End(ops, *walk_)));
  walk_.reset();
}

VelocityInputs GuidedCalls::InputsOf(Kind kind) const {
  const PreparedTexts& texts = kind == Kind::kTexts ? clip_.state->texts : clip_.state->prompt;
  const int64_t rows = texts.video.tokens.size(0);
  const at::Tensor sigma = at::full({rows}, clip_.level.time, clip_.latents.video.options());
  // From 2.3 on the other stream's sigma counts towards it, which is the same here.
  const bool sees_other = transformer_.config().modulates_text;
  const StreamTimes times = {sigma.unsqueeze(1), sigma, sees_other ? sigma : at::Tensor()};
  StreamTimes video_times = times;
  if (const Pins& pins = clip_.state->pins; pins.exist()) {
    video_times.own = pins.free * clip_.level.time;
    video_times.vector_of = pins.free_of.expand({rows, -1}).contiguous();
  }
  const auto stream = [&](const at::Tensor& latents, const StreamTimes& when,
                          const TextContext& text, const StreamTables& tables) {
    const at::Tensor x = latents.expand({rows, -1, -1}).to(transformer_.dtype()).contiguous();
    return StreamInputs{.x = x, .times = when, .text = text, .tables = tables};
  };
  VelocityInputs inputs = {
      .video = stream(clip_.latents.video, video_times, texts.video, clip_.state->video_tables),
      .audio = stream(clip_.latents.audio, times, texts.audio, clip_.state->audio_tables),
      .is_isolated = kind == Kind::kIsolated};
  if (kind == Kind::kPerturbed) inputs.perturbed_blocks = clip_.state->guidance.perturbed_blocks;
  return inputs;
}

StreamTokens GuidedCalls::CleanBy(const StreamTokens& velocity) const {
  const at::Tensor sigma = at::full({}, clip_.level.sigma, clip_.latents.video.options());
  return {clip_.latents.video - velocity.video.to(at::kFloat) * sigma,
          clip_.latents.audio - velocity.audio.to(at::kFloat) * sigma};
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
  return {GuideByDeltas(video, clip_.state->guidance.video),
          GuideByDeltas(audio, clip_.state->guidance.audio)};
}

}  // namespace reel::model::ltx2
