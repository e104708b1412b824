// SPDX-License-Identifier: Apache-2.0
// The step rules of the three pipelines. Types and the order of operations are the reference's.
#include "model/bridge/random.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/guidance.h"
#include "model/ltx/latents.h"

namespace reel::model::ltx {
namespace {

constexpr double kTimesteps = 1000;
constexpr double kPinned = 1 - 1e-6;

// The transformer's answers, guided. `times` [1, 1 or S]. In fp32, or in the model's own type.
at::Tensor Velocity(const Ops& ops, const Transformer& transformer, const DenoiseState& state,
                    const at::Tensor& times, at::ScalarType dtype) {
  const GuidancePoint& point =
      state.guidance.At(state.schedule.sigmas[static_cast<size_t>(state.step)]);
  const int64_t rows = point.rows();
  const bool uses_all = rows == state.text.rows();
  TextContext part;
  if (!uses_all) {
    part = state.text.Rows(state.text_has_negative && !point.uses_negative() ? 1 : 0, rows);
  }
  const at::Tensor x = state.tokens.x.repeat({rows, 1, 1}).to(transformer.dtype());
  const absl::Span<const int64_t> perturbed =
      point.uses_perturbed() ? absl::MakeConstSpan(point.blocks) : absl::Span<const int64_t>();
  const at::Tensor velocities = transformer.Velocity(ops, x, times.repeat({rows, 1}), state.rope,
                                                     uses_all ? state.text : part, perturbed);
  return Guide(velocities.to(dtype), point, state.guidance.star);
}

// From `sigma` to `next` along `velocity`, in fp32.
at::Tensor Move(DenoiseState& state, const at::Tensor& x, const at::Tensor& velocity,
                const at::Tensor& sigma, const at::Tensor& next) {
  if (!state.stochastic) return x + (next - sigma) * velocity;
  const at::Tensor clean = x - sigma * velocity;
  const at::Tensor noise = DrawNormal(x.sizes(), state.other_generator, x.options());
  return (1.0 - next) * clean + next * noise;
}

at::Tensor Scalar(float value, const at::Tensor& like) {
  return at::full({}, value, like.options().dtype(at::kFloat));
}

// Text and image pipelines: one sigma for all; the image's frame is never moved.
void StepTogether(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  Tokens& tokens = state.tokens;
  const auto step = static_cast<size_t>(state.step);
  at::Tensor times = Scalar(state.schedule.timesteps[step], tokens.x).view({1, 1});
  if (tokens.mask.defined()) times = times * (1 - tokens.mask);
  const at::Tensor velocity = Velocity(ops, transformer, state, times, at::kFloat);
  const at::Tensor sigma = Scalar(state.schedule.sigmas[step], tokens.x);
  const at::Tensor next = Scalar(state.schedule.sigmas[step + 1], tokens.x);
  const int64_t fixed = state.mode == Mode::kImage ? state.shape.height * state.shape.width : 0;
  const at::Tensor moved =
      Move(state, tokens.x.slice(1, fixed), velocity.slice(1, fixed), sigma, next);
  tokens.x = fixed == 0 ? moved : at::cat({tokens.x.slice(1, 0, fixed), moved}, 1);
}

// Fully pinned tokens are set back to their condition, with noise that fades as the video clears.
void NoisePinned(DenoiseState& state, const at::Tensor& sigma) {
  Tokens& tokens = state.tokens;
  const at::Tensor noise = DrawNormal(tokens.x.sizes(), state.generator, tokens.x.options());
  const at::Tensor noised = tokens.initial + state.condition_noise * noise * (sigma * sigma);
  tokens.x = at::where((tokens.mask > kPinned).unsqueeze(-1), noised, tokens.x);
}

// Where each token's sigma goes next: the greatest of the schedule's below it.
at::Tensor NextSigmas(const Schedule& schedule, const at::Tensor& sigmas) {
  const at::Tensor flat = sigmas.to(at::kCPU).contiguous();
  at::Tensor next = at::empty_like(flat);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    next.data_ptr<float>()[i] = NextSigma(schedule, flat.data_ptr<float>()[i]);
  }
  return next.to(sigmas.device());
}

// Condition pipeline: each token has a time of its own, not past what its strength allows.
void StepEach(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  Tokens& tokens = state.tokens;
  const float time = state.schedule.timesteps[static_cast<size_t>(state.step)];
  const at::Tensor sigma = Scalar(time, tokens.x) / kTimesteps;
  if (state.condition_noise > 0 && tokens.mask.defined()) NoisePinned(state, sigma);
  at::Tensor times = Scalar(time, tokens.x).view({1, 1});
  if (tokens.mask.defined()) times = at::minimum(times, (1 - tokens.mask) * kTimesteps);

  // Guidance in the model's own type, as the reference has it here.
  const at::Tensor velocity = Velocity(ops, transformer, state, times, transformer.dtype());
  const at::Tensor sigmas = times / kTimesteps;
  const at::Tensor moved = Move(state, tokens.x, velocity, sigmas.unsqueeze(-1),
                                NextSigmas(state.schedule, sigmas).unsqueeze(-1));
  if (!tokens.mask.defined()) {
    tokens.x = moved;
    return;
  }
  const at::Tensor is_free = (sigma - 1e-6 < 1.0 - tokens.mask).unsqueeze(-1);
  tokens.x = at::where(is_free, moved, tokens.x);
}

}  // namespace

at::Tensor DenoiseState::Latents() const {
  return UnpackLatents(tokens.x.slice(1, tokens.extra), shape);
}

void DenoiseStep(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  if (state.mode == Mode::kCondition) {
    StepEach(ops, transformer, state);
  } else {
    StepTogether(ops, transformer, state);
  }
  ++state.step;
}

}  // namespace reel::model::ltx
