// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/denoiser.h"

#include <algorithm>

#include "model/bridge/step_reuse.h"
#include "model/ltx/step_groups.h"

namespace reel::model::ltx {
namespace {

std::vector<Attempt*> PointersTo(std::vector<Attempt>& attempts) {
  std::vector<Attempt*> pointers;
  for (Attempt& attempt : attempts) pointers.push_back(&attempt);
  return pointers;
}

// The rows of each, of those of all.
std::vector<at::Tensor> Apart(const std::vector<Attempt*>& attempts, const at::Tensor& rows) {
  if (attempts.size() == 1) return {rows};
  std::vector<at::Tensor> apart;
  int64_t row = 0;
  for (const Attempt* attempt : attempts) {
    const int64_t end = row + attempt->point().rows();
    apart.push_back(rows.slice(0, row, end));
    row = end;
  }
  return apart;
}

// Which of them leave the other blocks out, by what the first one `added`. All that a device is
// waited for is one small copy.
std::vector<bool> ReusesOf(const std::vector<Attempt*>& attempts,
                           const std::vector<at::Tensor>& added) {
  std::vector<at::Tensor> changes;
  std::vector<size_t> places;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Attempt& attempt = *attempts[i];
    if (!attempt.is_kept() || !attempt.cache.Has(attempt.point())) continue;
    changes.push_back(attempt.cache.ChangeOf(added[i]));
    places.push_back(i);
  }
  std::vector<bool> reuses(attempts.size(), false);
  if (changes.empty()) return reuses;
  const at::Tensor on_host = at::stack(changes).to(at::kCPU);
  for (size_t i = 0; i < places.size(); ++i) {
    const double change = on_host.data_ptr<float>()[i];
    reuses[places[i]] = attempts[places[i]]->cache.Allows(change);
  }
  return reuses;
}

}  // namespace

std::vector<Attempt> Denoiser::AttemptsOf(const Ops& ops, absl::Span<DenoiseState* const> states) {
  std::vector<Attempt> attempts;
  attempts.reserve(states.size());
  for (DenoiseState* state : states) {
    Attempt& attempt = attempts.emplace_back(BeginStep(ops, velocity_.transformer(), *state));
    if (attempt.is_last()) attempt.cache.Forget();
  }
  // Nothing is kept for a company that may not come again.
  if (attempts.size() == 1) {
    shared_texts_.clear();
    shared_others_text_ = {};
  }
  return attempts;
}

void Denoiser::Finish(std::vector<Attempt>& attempts, const std::vector<at::Tensor>& velocities) {
  for (size_t i = 0; i < attempts.size(); ++i) EndStep(attempts[i], velocities[i]);
  for (Attempt& attempt : attempts) Commit(attempt);
}

void Denoiser::Step(const Ops& ops, absl::Span<DenoiseState* const> states) {
  std::vector<Attempt> attempts = AttemptsOf(ops, states);
  const Company all = PointersTo(attempts);
  const bool uses_cache = std::any_of(all.begin(), all.end(), [](const Attempt* attempt) {
    return attempt->cache.rules().uses_cache();
  });
  // A last step, which keeps nothing, is made in the same parts: a device has no whole call of it
  // to record.
  Finish(attempts,
         uses_cache && MayReuseSteps(ops.run()) ? WithCache(ops, all) : WithoutCache(ops, all));
}

std::unique_ptr<Denoiser::Walk> Denoiser::Begin(const Ops& ops,
                                                absl::Span<DenoiseState* const> states) {
  if (group_ != nullptr || MayReuseSteps(ops.run())) return nullptr;
  auto walk = std::make_unique<Walk>(velocity_.transformer(), AttemptsOf(ops, states));
  walk->call_ = CallOf(PointersTo(walk->attempts_));
  walk->blocks_ = velocity_.transformer().Begin(ops, walk->call_.inputs);
  return walk;
}

bool Denoiser::Walk::Next(const Ops& ops, size_t blocks) {
  for (size_t i = 0; i < blocks && !blocks_->done(); ++i) blocks_->Next(ops);
  if (!blocks_->done()) return false;
  Finish(attempts_, Spread(call_, transformer_.End(ops, *blocks_), attempts_.size()));
  return true;
}

std::vector<at::Tensor> Denoiser::WithoutCache(const Ops& ops, const Company& all) {
  if (group_ != nullptr) return (*group_)(ops, all);
  const Call call = CallOf(all);
  return Spread(call, velocity_(ops, call.inputs), all.size());
}

Denoiser::Call Denoiser::CallOf(const Company& all) {
  std::vector<const DenoiseState*> states;
  for (const Attempt* attempt : all) states.push_back(&attempt->state);
  Call call{.places = GroupsOf(states), .groups = {}, .inputs = {}};
  shared_texts_.resize(call.places.size());
  for (const std::vector<size_t>& of_group : call.places) {
    Company& group = call.groups.emplace_back();
    for (const size_t place : of_group) group.push_back(all[place]);
    call.inputs.push_back(InputsOf(group, shared_texts_[call.inputs.size()]));
  }
  return call;
}

std::vector<at::Tensor> Denoiser::Spread(const Call& call, const std::vector<at::Tensor>& made,
                                         size_t count) {
  std::vector<at::Tensor> velocities(count);
  for (size_t group = 0; group < call.groups.size(); ++group) {
    const std::vector<at::Tensor> own = Apart(call.groups[group], made[group]);
    for (size_t i = 0; i < own.size(); ++i) velocities[call.places[group][i]] = own[i];
  }
  return velocities;
}

std::vector<at::Tensor> Denoiser::WithCache(const Ops& ops, const Company& all) {
  shared_texts_.resize(1);
  const VelocityInputs inputs = InputsOf(all, shared_texts_[0]);
  VelocityInputs of_first = inputs;
  of_first.text = inputs.text.OfFirstBlock();
  const FirstBlock first = velocity_.First(ops, of_first);
  const std::vector<at::Tensor> x = Apart(all, first.x), added = Apart(all, first.added);
  const std::vector<bool> reuses = ReusesOf(all, added);
  std::vector<at::Tensor> velocities(all.size());
  FullSteps full;
  for (size_t i = 0; i < all.size(); ++i) {
    if (reuses[i]) {
      velocities[i] = Reused(ops, *all[i], x[i]);
      continue;
    }
    full.steps.push_back(all[i]);
    full.places.push_back(i);
    // Copies: the next call writes over what this one made.
    full.x.push_back(x[i]);
    full.added.push_back(all[i]->is_kept() ? added[i].clone() : at::Tensor());
  }
  if (full.steps.empty()) return velocities;
  VelocityInputs of_others =
      full.steps.size() == all.size() ? inputs : InputsOf(full.steps, shared_others_text_);
  of_others.x = at::cat(full.x);
  Others(ops, of_others, full, velocities);
  return velocities;
}

at::Tensor Denoiser::Reused(const Ops& ops, Attempt& attempt, const at::Tensor& x) const {
  SharedText unused;  // it is alone
  const VelocityInputs inputs = InputsOf({&attempt}, unused);
  const at::Tensor made = WithKept(ops, Transformer::AllRows(inputs, x), attempt.cache.others());
  attempt.cache.Reused();
  return velocity_.transformer().Head(ops, inputs, made);
}

void Denoiser::Others(const Ops& ops, const VelocityInputs& inputs, const FullSteps& full,
                      std::vector<at::Tensor>& velocities) {
  const at::Tensor made = velocity_.Others(ops, inputs);
  const std::vector<at::Tensor> own =
      Apart(full.steps, velocity_.transformer().Head(ops, inputs, made));
  const std::vector<at::Tensor> added =
      Apart(full.steps, made - Transformer::AllRows(inputs, inputs.x));
  for (size_t i = 0; i < full.steps.size(); ++i) {
    Attempt& step = *full.steps[i];
    velocities[full.places[i]] = own[i];
    // Of several a copy: a part of what all have would keep it all.
    if (step.is_kept()) {
      step.cache.Keep(step.point(), full.added[i], added.size() == 1 ? added[i] : added[i].clone());
    }
  }
}

VelocityInputs Denoiser::InputsOf(const Company& attempts, SharedText& shared) const {
  std::vector<at::Tensor> x;
  std::vector<TextContext> texts;
  std::vector<int64_t> rows;
  for (const Attempt* attempt : attempts) {
    x.push_back(attempt->x.to(velocity_.transformer().dtype()));
    texts.push_back(attempt->text());
    rows.push_back(attempt->point().rows());
  }
  const bool alone = attempts.size() == 1;
  const Attempt& first = *attempts.front();
  const GuidancePoint& point = first.point();  // that of all perturbs nothing where several
  const StepTimes times = alone ? first.times : Joined(attempts);
  return {.x = alone ? x[0] : at::cat(x),
          .time = times.rows,
          .time_of = times.of_token,
          .rope = first.state.rope,
          .text = alone ? texts[0] : shared.Of(texts),
          .rows = rows,
          .perturbed = point.uses_perturbed() ? point.blocks : std::vector<int64_t>()};
}

}  // namespace reel::model::ltx
