// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_step.h"

#include <utility>

#include "model/bridge/random.h"

namespace reel::model::ltx2 {
namespace {

constexpr float kTimesteps = 1000;

at::Generator CopyOf(const at::Generator& generator) {
  return generator.defined() ? generator.clone() : at::Generator();
}

}  // namespace

DenoiseStep::DenoiseStep(const Transformer& transformer, DenoiseState& state)
    : transformer_(transformer),
      state_(state),
      step_generator_(CopyOf(state.step_generator)),
      middle_generator_(CopyOf(state.middle_generator)) {
  const float time = state.schedule.timesteps[static_cast<size_t>(state.step)];
  calls_.emplace(transformer, state, state.latents, NoiseLevel{Sigma(0), time});
}

bool DenoiseStep::Next(const Ops& ops, size_t blocks) {
  for (; blocks > 0 && !done_; --blocks) {
    calls_->Next(ops);
    if (!calls_->done()) continue;
    StreamTokens clean = calls_->Clean();
    clean.video = state_.pins.Held(clean.video);
    TakeClean(clean);
  }
  return done_;
}

void DenoiseStep::TakeClean(const StreamTokens& clean) {
  switch (state_.sampler) {
    case Sampler::kEuler:
      return Commit(EulerMoved(clean));
    case Sampler::kAncestralEuler:
      return Commit(AncestralMoved(clean));
    case Sampler::kRes2s:
      if (halves_.has_value()) return Commit(EndSecondHalf(clean));
      if (Sigma(1) == 0) return Commit({Rounded(clean.video), Rounded(clean.audio)});
      return BeginSecondHalf(clean);
  }
}

float DenoiseStep::Sigma(int ahead) const {
  return state_.schedule.sigmas[static_cast<size_t>(state_.step + ahead)];
}

SigmaStep DenoiseStep::ScalarStep() const {
  const auto options = state_.latents.video.options();
  return {at::full({}, Sigma(0), options), at::full({}, Sigma(1), options)};
}

// Latents of res_2s are of the model's type, whatever holds them.
at::Tensor DenoiseStep::Rounded(const at::Tensor& latents) const {
  return latents.to(transformer_.dtype()).to(at::kFloat);
}

at::Tensor DenoiseStep::NoiseLike(const at::Tensor& latents, at::Generator& generator) const {
  return Upload(StandardNoise(latents.sizes(), generator), latents.device());
}

StreamTokens DenoiseStep::EulerMoved(const StreamTokens& clean) const {
  const SigmaStep step = ScalarStep();
  return {ltx2::EulerMoved(state_.latents.video, clean.video, step),
          ltx2::EulerMoved(state_.latents.audio, clean.audio, step)};
}

StreamTokens DenoiseStep::AncestralMoved(const StreamTokens& clean) {
  const SigmaStep step = ScalarStep();
  const auto moved = [&](const at::Tensor& x, const at::Tensor& to) {
    const bool is_last = Sigma(1) == 0;
    const at::Tensor noise =
        is_last ? at::Tensor() : DrawNormal(x.sizes(), step_generator_, x.options());
    return ltx2::AncestralMoved(x, to, step, noise);
  };
  const at::Tensor video = state_.pins.Held(moved(state_.latents.video, clean.video));
  return {video, moved(state_.latents.audio, clean.audio)};
}

void DenoiseStep::BeginSecondHalf(const StreamTokens& clean) {
  const StreamTokens& x = state_.latents;
  const Res2sStep step(Sigma(0), Sigma(1));
  halves_.emplace(Halves{step, {step, x.video, clean.video}, {step, x.audio, clean.audio}});
  const at::Tensor video =
      state_.pins.Held(halves_->video.Middle(NoiseLike(x.video, middle_generator_)));
  const at::Tensor audio = halves_->audio.Middle(NoiseLike(x.audio, middle_generator_));
  const auto sigma = static_cast<float>(step.middle);
  calls_.emplace(transformer_, state_, StreamTokens{Rounded(video), Rounded(audio)},
                 NoiseLevel{sigma, sigma * kTimesteps});
}

StreamTokens DenoiseStep::EndSecondHalf(const StreamTokens& clean) {
  const StreamTokens& x = state_.latents;
  const at::Tensor video =
      state_.pins.Held(halves_->video.End(clean.video, NoiseLike(x.video, step_generator_)));
  const at::Tensor audio = halves_->audio.End(clean.audio, NoiseLike(x.audio, step_generator_));
  return {Rounded(video), Rounded(audio)};
}

void DenoiseStep::Commit(StreamTokens latents) {
  state_.latents = std::move(latents);
  state_.step_generator = step_generator_;
  state_.middle_generator = middle_generator_;
  ++state_.step;
  done_ = true;
}

}  // namespace reel::model::ltx2
