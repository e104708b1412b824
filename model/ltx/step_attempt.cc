// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/ltx/step_attempt.h"

#include <utility>

#include "model/bridge/random.h"

namespace reel::model::ltx {
namespace {

constexpr double kPinned = 1 - 1e-6;

at::Tensor Scalar(float value, const at::Tensor& like) {
  return at::full({}, value, like.options().dtype(at::kFloat));
}

// Fully pinned tokens are set back to their condition, with noise that fades as the video clears.
void NoisePinned(Attempt& attempt) {
  const ClipTokens& tokens = attempt.tokens();
  const at::Tensor noise = DrawNormal(attempt.x.sizes(), attempt.generator, attempt.x.options());
  const at::Tensor noised =
      tokens.initial + attempt.state.condition_noise * noise * (attempt.sigma * attempt.sigma);
  attempt.x = at::where((tokens.mask > kPinned).unsqueeze(-1), noised, attempt.x);
}

// From `sigma` to `next` along `velocity`, in fp32.
at::Tensor Move(Attempt& attempt, const at::Tensor& x, const at::Tensor& velocity,
                const at::Tensor& sigma, const at::Tensor& next) {
  if (!attempt.state.stochastic) return x + (next - sigma) * velocity;
  const at::Tensor clean = x - sigma * velocity;
  const at::Tensor noise = DrawNormal(x.sizes(), attempt.other_generator, x.options());
  return (1.0 - next) * clean + next * noise;
}

// Text and image pipelines: one sigma for all; the image's frame is never moved.
at::Tensor MoveTogether(Attempt& attempt, const at::Tensor& velocity) {
  const DenoiseState& state = attempt.state;
  const auto step = static_cast<size_t>(state.step);
  const at::Tensor& x = attempt.x;
  const at::Tensor sigma = Scalar(state.schedule.sigmas[step], x);
  const at::Tensor next = Scalar(state.schedule.sigmas[step + 1], x);
  const int64_t fixed = state.mode == Mode::kImage ? state.shape.height * state.shape.width : 0;
  const at::Tensor moved = Move(attempt, x.slice(1, fixed), velocity.slice(1, fixed), sigma, next);
  return fixed == 0 ? moved : at::cat({x.slice(1, 0, fixed), moved}, 1);
}

// Where each sigma goes next: the greatest of the schedule's below it.
at::Tensor NextSigmas(const Schedule& schedule, const at::Tensor& sigmas) {
  const at::Tensor flat = sigmas.to(at::kCPU).contiguous();
  at::Tensor next = at::empty_like(flat);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    next.data_ptr<float>()[i] = NextSigma(schedule, flat.data_ptr<float>()[i]);
  }
  return next.to(sigmas.device());
}

// Condition pipeline: each token by its own sigma, where its strength lets it.
at::Tensor MoveEach(Attempt& attempt, const at::Tensor& velocity) {
  const StepTimes& times = attempt.times;
  const at::Tensor sigmas = times.values / kTimesteps;
  const at::Tensor next = NextSigmas(attempt.state.schedule, sigmas);
  const at::Tensor moved = Move(attempt, attempt.x, velocity, times.ForTokens(sigmas).unsqueeze(-1),
                                times.ForTokens(next).unsqueeze(-1));
  const at::Tensor& mask = attempt.tokens().mask;
  if (!mask.defined()) return moved;
  const at::Tensor is_free = (attempt.sigma - 1e-6 < 1.0 - mask).unsqueeze(-1);
  return at::where(is_free, moved, attempt.x);
}

}  // namespace

TextContext Attempt::text() const {
  if (point().rows() == state.text.rows()) return state.text;
  return state.text.Rows(state.text_has_negative && !point().uses_negative() ? 1 : 0,
                         point().rows());
}

Attempt BeginStep(const Ops& ops, const Transformer& transformer, DenoiseState& state,
                  const at::Tensor& adapters) {
  const ClipTokens& tokens = state.tokens;
  const Ops own = adapters.defined() ? ops.WithAdapters(adapters.squeeze(1)) : ops;
  const bool each = state.mode == Mode::kCondition;
  const at::Tensor time =
      Scalar(state.schedule.timesteps[static_cast<size_t>(state.step)], tokens.x);
  Attempt attempt = {
      .state = state,
      .x = tokens.x,
      .sigma = time / kTimesteps,
      .times = state.times.At(
          {.timesteps = state.schedule.timesteps, .x = tokens.x, .mask = tokens.mask, .each = each},
          state.step, [&](const at::Tensor& t) { return transformer.Times(own, t); }),
      .generator = {},
      .other_generator = {},
      .cache = state.cache,
      .adapters = adapters};
  if (state.stochastic) attempt.other_generator = state.other_generator.clone();
  if (each && tokens.mask.defined() && state.condition_noise > 0) {
    attempt.generator = state.generator.clone();
    NoisePinned(attempt);
  }
  return attempt;
}

void EndStep(Attempt& attempt, const at::Tensor& velocities) {
  DenoiseState& state = attempt.state;
  const bool each = state.mode == Mode::kCondition;
  // Guidance in the model's own type with conditions, as the reference has it there.
  const at::Tensor velocity =
      Guide(each ? velocities : velocities.to(at::kFloat), attempt.point(), state.guidance.star);
  attempt.x = each ? MoveEach(attempt, velocity) : MoveTogether(attempt, velocity);
}

void Commit(Attempt& attempt) {
  DenoiseState& state = attempt.state;
  state.tokens.x = std::move(attempt.x);
  if (attempt.generator.defined()) state.generator = std::move(attempt.generator);
  if (attempt.other_generator.defined()) {
    state.other_generator = std::move(attempt.other_generator);
  }
  state.cache = std::move(attempt.cache);
  ++state.step;
}

}  // namespace reel::model::ltx
