// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/clip_step.h"

#include <utility>

#include "model/bridge/random.h"

namespace reel::model::ltx2 {
namespace {

constexpr float kTimesteps = 1000;

at::Generator CopyOf(const at::Generator& generator) {
  return generator.defined() ? generator.clone() : at::Generator();
}

}  // namespace

ClipStep::ClipStep(DenoiseState& state, at::ScalarType dtype)
    : state_(state),
      dtype_(dtype),
      step_generator_(CopyOf(state.step_generator)),
      middle_generator_(CopyOf(state.middle_generator)) {}

ClipCall ClipStep::first_call() const {
  const float time = state_.schedule.timesteps[static_cast<size_t>(state_.step)];
  return {&state_, state_.latents, {Sigma(0), time}};
}

std::optional<ClipCall> ClipStep::Take(StreamTokens clean) {
  clean = Held(clean);
  switch (state_.sampler) {
    case Sampler::kEuler:
      moved_ = EulerMoved(clean);
      break;
    case Sampler::kAncestralEuler:
      moved_ = AncestralMoved(clean);
      break;
    case Sampler::kRes2s:
      if (halves_.has_value()) {
        moved_ = EndSecondHalf(clean);
      } else if (Sigma(1) == 0) {
        moved_ = Rounded(clean);
      } else {
        return BeginSecondHalf(clean);
      }
  }
  return std::nullopt;
}

void ClipStep::Commit() {
  state_.latents = std::move(moved_);
  state_.step_generator = step_generator_;
  state_.middle_generator = middle_generator_;
  ++state_.step;
}

float ClipStep::Sigma(int ahead) const {
  return state_.schedule.sigmas[static_cast<size_t>(state_.step + ahead)];
}

SigmaStep ClipStep::ScalarStep() const {
  const auto options = state_.latents.video.options();
  return {at::full({}, Sigma(0), options), at::full({}, Sigma(1), options)};
}

// As the reference does, res_2s rounds latents to the model's type. They are stored in fp32.
at::Tensor ClipStep::Rounded(const at::Tensor& latents) const {
  return latents.to(dtype_).to(at::kFloat);
}

StreamTokens ClipStep::Rounded(const StreamTokens& latents) const {
  StreamTokens rounded = {Rounded(latents.video), Rounded(latents.audio)};
  if (state_.pins.exact) rounded.video = state_.pins.Held(rounded.video);
  if (state_.audio_pins.exact) rounded.audio = state_.audio_pins.Held(rounded.audio);
  return rounded;
}

StreamTokens ClipStep::Held(const StreamTokens& latents) const {
  return {state_.pins.Held(latents.video), state_.audio_pins.Held(latents.audio)};
}

at::Tensor ClipStep::NoiseLike(const at::Tensor& latents, at::Generator& generator) const {
  return Upload(StandardNoise(latents.sizes(), generator), latents.device());
}

StreamTokens ClipStep::EulerMoved(const StreamTokens& clean) const {
  const SigmaStep step = ScalarStep();
  return {ltx2::EulerMoved(state_.latents.video, clean.video, step),
          ltx2::EulerMoved(state_.latents.audio, clean.audio, step)};
}

StreamTokens ClipStep::AncestralMoved(const StreamTokens& clean) {
  const SigmaStep step = ScalarStep();
  const auto moved = [&](const at::Tensor& x, const at::Tensor& to) {
    const bool is_last = Sigma(1) == 0;
    const at::Tensor noise =
        is_last ? at::Tensor() : DrawNormal(x.sizes(), step_generator_, x.options());
    return ltx2::AncestralMoved(x, to, step, noise);
  };
  const at::Tensor video = moved(state_.latents.video, clean.video);  // draws first
  return Held({video, moved(state_.latents.audio, clean.audio)});
}

ClipCall ClipStep::BeginSecondHalf(const StreamTokens& clean) {
  const StreamTokens& x = state_.latents;
  const Res2sStep step(Sigma(0), Sigma(1));
  halves_.emplace(Halves{step, {step, x.video, clean.video}, {step, x.audio, clean.audio}});
  const at::Tensor video = halves_->video.Middle(NoiseLike(x.video, middle_generator_));
  const at::Tensor audio = halves_->audio.Middle(NoiseLike(x.audio, middle_generator_));
  const auto sigma = static_cast<float>(step.middle);
  return {&state_, Rounded(Held({video, audio})), {sigma, sigma * kTimesteps}};
}

StreamTokens ClipStep::EndSecondHalf(const StreamTokens& clean) {
  const StreamTokens& x = state_.latents;
  const at::Tensor video = halves_->video.End(clean.video, NoiseLike(x.video, step_generator_));
  const at::Tensor audio = halves_->audio.End(clean.audio, NoiseLike(x.audio, step_generator_));
  return Rounded(Held({video, audio}));
}

}  // namespace reel::model::ltx2
