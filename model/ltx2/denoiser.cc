// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoiser.h"

#include "model/bridge/random.h"
#include "model/ltx2/guided_calls.h"
#include "model/ltx2/res_2s.h"

namespace reel::model::ltx2 {
namespace {

constexpr float kTimesteps = 1000;

// Copies, which a step that throws leaves behind.
struct Generators {
  at::Generator step, middle;

  explicit Generators(const DenoiseState& state)
      : step(CopyOf(state.step_generator)), middle(CopyOf(state.middle_generator)) {}

 private:
  static at::Generator CopyOf(const at::Generator& generator) {
    return generator.defined() ? generator.clone() : at::Generator();
  }
};

float SigmaOf(const DenoiseState& state, int ahead) {
  return state.schedule.sigmas[static_cast<size_t>(state.step + ahead)];
}

SigmaStep StepOf(const DenoiseState& state) {
  const auto options = state.latents.video.options();
  return {at::full({}, SigmaOf(state, 0), options), at::full({}, SigmaOf(state, 1), options)};
}

StreamTokens EulerStepped(const DenoiseState& state, const StreamTokens& clean) {
  const SigmaStep step = StepOf(state);
  return {EulerMoved(state.latents.video, clean.video, step),
          EulerMoved(state.latents.audio, clean.audio, step)};
}

StreamTokens AncestralStepped(const DenoiseState& state, const StreamTokens& clean,
                              at::Generator& generator) {
  const SigmaStep step = StepOf(state);
  const bool is_last = SigmaOf(state, 1) == 0;
  const auto moved = [&](const at::Tensor& x, const at::Tensor& to) {
    const at::Tensor noise = is_last ? at::Tensor() : DrawNormal(x.sizes(), generator, x.options());
    return AncestralMoved(x, to, step, noise);
  };
  const at::Tensor video = moved(state.latents.video, clean.video);
  return {video, moved(state.latents.audio, clean.audio)};
}

// The state is of the model's type, whatever holds it.
StreamTokens Res2sStepped(const Ops& ops, const Transformer& transformer, const DenoiseState& state,
                          const StreamTokens& clean, Generators& generators) {
  const auto rounded = [&](const at::Tensor& t) {
    return t.to(transformer.dtype()).to(at::kFloat);
  };
  if (SigmaOf(state, 1) == 0) return {rounded(clean.video), rounded(clean.audio)};
  const auto noise = [&](const at::Tensor& like, at::Generator& generator) {
    return Upload(StandardNoise(like.sizes(), generator), like.device());
  };
  const Res2sStep step(SigmaOf(state, 0), SigmaOf(state, 1));
  const StreamTokens& x = state.latents;
  Res2sStream video(step, x.video, clean.video), audio(step, x.audio, clean.audio);
  const at::Tensor video_middle = rounded(video.Middle(noise(x.video, generators.middle)));
  const at::Tensor audio_middle = rounded(audio.Middle(noise(x.audio, generators.middle)));
  const auto sigma = static_cast<float>(step.middle);
  const StreamTokens second = GuidedClean(ops, transformer, state, {video_middle, audio_middle},
                                          {sigma, sigma * kTimesteps});
  const at::Tensor video_end = rounded(video.End(second.video, noise(x.video, generators.step)));
  return {video_end, rounded(audio.End(second.audio, noise(x.audio, generators.step)))};
}

}  // namespace

void Step(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  const float time = state.schedule.timesteps[static_cast<size_t>(state.step)];
  const StreamTokens clean =
      GuidedClean(ops, transformer, state, state.latents, {SigmaOf(state, 0), time});
  Generators generators(state);
  switch (state.sampler) {
    case Sampler::kEuler:
      state.latents = EulerStepped(state, clean);
      break;
    case Sampler::kAncestralEuler:
      state.latents = AncestralStepped(state, clean, generators.step);
      break;
    case Sampler::kRes2s:
      state.latents = Res2sStepped(ops, transformer, state, clean, generators);
      break;
  }
  state.step_generator = generators.step;
  state.middle_generator = generators.middle;
  ++state.step;
}

}  // namespace reel::model::ltx2
