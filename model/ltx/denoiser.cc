// SPDX-License-Identifier: Apache-2.0
// The step rules of the three pipelines. Types and the order of operations are the reference's.
#include "model/ltx/denoiser.h"

#include <utility>

#include "model/bridge/random.h"
#include "model/ltx/guidance.h"
#include "model/ltx/latents.h"

namespace reel::model::ltx {
namespace {

constexpr double kTimesteps = 1000;
constexpr double kPinned = 1 - 1e-6;

// A step under way. What it changes of its generation stands here until the whole step is done.
struct Attempt {
  DenoiseState& state;
  at::Tensor x;      // the tokens
  at::Tensor sigma;  // []
  StepTimes times;   // of the tokens
  at::Generator generator, other_generator;

  const Tokens& tokens() const { return state.tokens; }
  const GuidancePoint& point() const {
    return state.guidance.At(state.schedule.sigmas[static_cast<size_t>(state.step)]);
  }
};

at::Tensor Scalar(float value, const at::Tensor& like) {
  return at::full({}, value, like.options().dtype(at::kFloat));
}

// Fully pinned tokens are set back to their condition, with noise that fades as the video clears.
void NoisePinned(Attempt& attempt) {
  const Tokens& tokens = attempt.tokens();
  const at::Tensor noise = DrawNormal(attempt.x.sizes(), attempt.generator, attempt.x.options());
  const at::Tensor noised =
      tokens.initial + attempt.state.condition_noise * noise * (attempt.sigma * attempt.sigma);
  attempt.x = at::where((tokens.mask > kPinned).unsqueeze(-1), noised, attempt.x);
}

Attempt BeginStep(const Ops& ops, const Transformer& transformer, DenoiseState& state) {
  const Tokens& tokens = state.tokens;
  const bool each = state.mode == Mode::kCondition;
  const at::Tensor time =
      Scalar(state.schedule.timesteps[static_cast<size_t>(state.step)], tokens.x);
  Attempt attempt = {
      .state = state,
      .x = tokens.x,
      .sigma = time / kTimesteps,
      .times = state.times.At(
          ops, transformer,
          {.schedule = state.schedule, .x = tokens.x, .mask = tokens.mask, .each = each},
          state.step),
      .generator = {},
      .other_generator = {}};
  if (state.stochastic) attempt.other_generator = state.other_generator.clone();
  if (each && tokens.mask.defined() && state.condition_noise > 0) {
    attempt.generator = state.generator.clone();
    NoisePinned(attempt);
  }
  return attempt;
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
  ++state.step;
}

// The rows of the request's text that this step uses.
TextContext TextOf(const Attempt& attempt) {
  const DenoiseState& state = attempt.state;
  const GuidancePoint& point = attempt.point();
  if (point.rows() == state.text.rows()) return state.text;
  return state.text.Rows(state.text_has_negative && !point.uses_negative() ? 1 : 0, point.rows());
}

// Those of several clips, one behind the other.
StepTimes Joined(const std::vector<Attempt>& attempts) {
  std::vector<at::Tensor> values, of_token, embedded, rows;
  int64_t before = 0;
  for (const Attempt& attempt : attempts) {
    const StepTimes& times = attempt.times;
    if (times.of_token.defined()) of_token.push_back(times.of_token + before);
    values.push_back(times.values);
    embedded.push_back(times.rows.embedded);
    rows.push_back(times.rows.rows);
    before += times.values.size(0);
  }
  StepTimes joined = {at::cat(values), {}, {at::cat(embedded), at::cat(rows)}};
  if (!of_token.empty()) joined.of_token = at::cat(of_token);
  return joined;
}

TextKeys JoinedKeys(const std::vector<TextContext>& parts, size_t block) {
  std::vector<at::Tensor> keys, values, only;
  bool some_have_one = false;
  for (const TextContext& part : parts) {
    const TextKeys& own = part.blocks[block];
    keys.push_back(own.k);
    values.push_back(own.v);
    some_have_one = some_have_one || own.only.defined();
    only.push_back(own.only.defined() ? own.only : at::zeros_like(own.v.slice(1, 0, 1)));
  }
  return {at::cat(keys), at::cat(values), some_have_one ? at::cat(only) : at::Tensor()};
}

}  // namespace

const TextContext& SharedText::Of(const std::vector<TextContext>& parts) {
  bool same = of_.size() == parts.size();
  for (size_t i = 0; same && i < parts.size(); ++i) {
    same = of_[i].is_same(parts[i].blocks[0].k);
  }
  if (same) return joined_;
  of_.clear();
  joined_ = {};
  std::vector<at::Tensor> biases, lengths;
  for (const TextContext& part : parts) {
    joined_.has_one_key.insert(joined_.has_one_key.end(), part.has_one_key.begin(),
                               part.has_one_key.end());
    biases.push_back(part.mask.bias);
    if (part.mask.lengths.defined()) lengths.push_back(part.mask.lengths);
  }
  joined_.mask.bias = at::cat(biases);
  if (lengths.size() == parts.size()) joined_.mask.lengths = at::cat(lengths);
  for (size_t block = 0; block < parts[0].blocks.size(); ++block) {
    joined_.blocks.push_back(JoinedKeys(parts, block));
  }
  for (const TextContext& part : parts) of_.push_back(part.blocks[0].k);
  return joined_;
}

void Denoiser::Step(const Ops& ops, absl::Span<DenoiseState* const> states) {
  std::vector<Attempt> attempts;
  std::vector<at::Tensor> x;
  std::vector<TextContext> texts;
  std::vector<int64_t> rows;
  for (DenoiseState* state : states) {
    const Attempt& attempt = attempts.emplace_back(BeginStep(ops, velocity_.transformer(), *state));
    x.push_back(attempt.x.to(velocity_.transformer().dtype()));
    texts.push_back(TextOf(attempt));
    rows.push_back(attempt.point().rows());
  }
  const bool alone = states.size() == 1;
  if (alone) shared_text_ = {};  // nothing is kept for a company that may not come again
  const GuidancePoint& point = attempts[0].point();  // that of all perturbs nothing where several
  const StepTimes times = alone ? attempts[0].times : Joined(attempts);
  const at::Tensor velocities =
      velocity_(ops, {.x = alone ? x[0] : at::cat(x),
                      .time = times.rows,
                      .time_of = times.of_token,
                      .rope = states[0]->rope,
                      .text = alone ? texts[0] : shared_text_.Of(texts),
                      .rows = rows,
                      .perturbed = point.uses_perturbed() ? point.blocks : std::vector<int64_t>()});
  int64_t row = 0;
  for (Attempt& attempt : attempts) {
    const int64_t end = row + attempt.point().rows();
    EndStep(attempt, velocities.slice(0, row, end));
    row = end;
  }
  for (Attempt& attempt : attempts) Commit(attempt);
}

}  // namespace reel::model::ltx
