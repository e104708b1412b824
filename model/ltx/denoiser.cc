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

// Rows video by video to those of each video; views.
std::vector<at::Tensor> ByVideo(const at::Tensor& rows, const std::vector<int64_t>& of_each) {
  return of_each.size() == 1 ? std::vector{rows} : rows.split_with_sizes(of_each);
}

// Which attempts skip the other blocks, by what the first block `added`. The host waits for one
// small copy of all decisions.
std::vector<bool> ReusesOf(const std::vector<Attempt*>& attempts,
                           const std::vector<at::Tensor>& added) {
  std::vector<at::Tensor> changes;
  std::vector<size_t> positions;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Attempt& attempt = *attempts[i];
    if (!attempt.is_kept() || !attempt.cache.Has(attempt.point())) continue;
    changes.push_back(attempt.cache.ChangeOf(added[i]));
    positions.push_back(i);
  }
  std::vector<bool> reuses(attempts.size(), false);
  if (changes.empty()) return reuses;
  const at::Tensor on_host = at::stack(changes).to(at::kCPU);
  for (size_t i = 0; i < positions.size(); ++i) {
    const double change = on_host.data_ptr<float>()[i];
    reuses[positions[i]] = attempts[positions[i]]->cache.Allows(change);
  }
  return reuses;
}

// The videos' adapters, put into the columns (AdapterColumns::Place).
at::Tensor Placed(AdapterColumns* columns, const std::vector<const DenoiseState*>& states) {
  if (columns == nullptr) return {};
  std::vector<const AppliedAdapters*> jobs;
  for (const DenoiseState* state : states) jobs.push_back(&state->adapters);
  return columns->Place(jobs);
}

}  // namespace

std::vector<Attempt> Denoiser::AttemptsOf(const Ops& ops, absl::Span<DenoiseState* const> states) {
  const at::Tensor adapters = Placed(columns_, {states.begin(), states.end()});
  std::vector<Attempt> attempts;
  attempts.reserve(states.size());
  for (DenoiseState* state : states) {
    const auto row = static_cast<int64_t>(attempts.size());
    Attempt& attempt = attempts.emplace_back(
        BeginStep(ops, velocity_.transformer(), *state,
                  adapters.defined() ? adapters.slice(0, row, row + 1) : at::Tensor()));
    if (attempt.is_last()) attempt.cache.Forget();
  }
  // Drop joined texts: that batch may not recur.
  if (attempts.size() == 1) {
    joined_texts_.clear();
    others_texts_ = {};
  }
  return attempts;
}

void Denoiser::Finish(std::vector<Attempt>& attempts, const std::vector<at::Tensor>& velocities) {
  for (size_t i = 0; i < attempts.size(); ++i) EndStep(attempts[i], velocities[i]);
  for (Attempt& attempt : attempts) Commit(attempt);
}

void Denoiser::Step(const Ops& ops, absl::Span<DenoiseState* const> states) {
  std::vector<Attempt> attempts = AttemptsOf(ops, states);
  const Attempts all = PointersTo(attempts);
  const bool uses_cache = std::any_of(all.begin(), all.end(), [](const Attempt* attempt) {
    return attempt->cache.rules().uses_cache();
  });
  // A last step keeps nothing, but takes the same parts: a whole call would be one more graph.
  Finish(attempts,
         uses_cache && MayReuseSteps(ops.run()) ? WithCache(ops, all) : WithoutCache(ops, all));
}

std::unique_ptr<Denoiser::Walk> Denoiser::Begin(const Ops& ops,
                                                absl::Span<DenoiseState* const> states) {
  if (group_ != nullptr || MayReuseSteps(ops.run())) return nullptr;
  auto walk = std::make_unique<Walk>(velocity_.transformer(), AttemptsOf(ops, states), columns_);
  walk->call_ = CallOf(PointersTo(walk->attempts_));
  walk->blocks_ = velocity_.transformer().Begin(ops, walk->call_.inputs);
  return walk;
}

bool Denoiser::Walk::Next(const Ops& ops, size_t blocks) {
  // Other generations may have had the columns since.
  std::vector<const DenoiseState*> states;
  for (const Attempt& attempt : attempts_) states.push_back(&attempt.state);
  Placed(columns_, states);
  for (size_t i = 0; i < blocks && !blocks_->done(); ++i) blocks_->Next(ops);
  if (!blocks_->done()) return false;
  Finish(attempts_, Spread(call_, transformer_.End(ops, *blocks_), attempts_.size()));
  return true;
}

std::vector<at::Tensor> Denoiser::WithoutCache(const Ops& ops, const Attempts& all) {
  if (group_ != nullptr) return (*group_)(ops, all);
  const Call call = CallOf(all);
  return Spread(call, velocity_(ops, call.inputs), all.size());
}

Denoiser::Call Denoiser::CallOf(const Attempts& all) {
  std::vector<const DenoiseState*> states;
  for (const Attempt* attempt : all) states.push_back(&attempt->state);
  Call call{.positions = GroupsOf(states), .inputs = {}};
  joined_texts_.resize(call.positions.size());
  for (const std::vector<size_t>& positions : call.positions) {
    Attempts group;
    for (const size_t position : positions) group.push_back(all[position]);
    call.inputs.push_back(InputsOf(group, joined_texts_[call.inputs.size()]));
  }
  return call;
}

VelocityInputs Denoiser::InputsOf(const Attempts& attempts, JoinedTexts& texts) const {
  std::vector<StepInputs> videos;
  for (Attempt* attempt : attempts) {
    videos.push_back({attempt, attempt->x.to(velocity_.transformer().dtype()), attempt->text()});
  }
  return JoinedInputs(videos, texts);
}

std::vector<at::Tensor> Denoiser::Spread(const Call& call, const std::vector<at::Tensor>& made,
                                         size_t videos) {
  std::vector<at::Tensor> velocities(videos);
  for (size_t group = 0; group < made.size(); ++group) {
    const std::vector<at::Tensor> own = ByVideo(made[group], call.inputs[group].rows);
    for (size_t i = 0; i < own.size(); ++i) velocities[call.positions[group][i]] = own[i];
  }
  return velocities;
}

std::vector<at::Tensor> Denoiser::WithCache(const Ops& ops, const Attempts& all) {
  joined_texts_.resize(1);
  const VelocityInputs inputs = InputsOf(all, joined_texts_[0]);
  VelocityInputs of_first = inputs;
  of_first.text = inputs.text.OfFirstBlock();
  const FirstBlock first = velocity_.First(ops, of_first);
  const std::vector<at::Tensor> x = ByVideo(first.x, inputs.rows);
  const std::vector<at::Tensor> added = ByVideo(first.added, inputs.rows);
  const std::vector<bool> reuses = ReusesOf(all, added);
  std::vector<at::Tensor> velocities(all.size());
  FullSteps full;
  for (size_t i = 0; i < all.size(); ++i) {
    if (reuses[i]) {
      velocities[i] = Reused(ops, *all[i], x[i]);
      continue;
    }
    full.attempts.push_back(all[i]);
    full.positions.push_back(i);
    // Copies: the next call overwrites what this one made.
    full.x.push_back(x[i]);
    full.added.push_back(all[i]->is_kept() ? added[i].clone() : at::Tensor());
  }
  if (full.attempts.empty()) return velocities;
  VelocityInputs of_others =
      full.attempts.size() == all.size() ? inputs : InputsOf(full.attempts, others_texts_);
  of_others.x = at::cat(full.x);
  Others(ops, of_others, full, velocities);
  return velocities;
}

at::Tensor Denoiser::Reused(const Ops& ops, Attempt& attempt, const at::Tensor& x) const {
  JoinedTexts unused;  // for one video
  const VelocityInputs inputs = InputsOf({&attempt}, unused);
  const at::Tensor made = WithKept(ops, Transformer::AllRows(inputs, x), attempt.cache.others());
  attempt.cache.Reused();
  return velocity_.transformer().Head(ops, inputs, made);
}

void Denoiser::Others(const Ops& ops, const VelocityInputs& inputs, const FullSteps& full,
                      std::vector<at::Tensor>& velocities) {
  const at::Tensor made = velocity_.Others(ops, inputs);
  const std::vector<at::Tensor> own =
      ByVideo(velocity_.transformer().Head(ops, inputs, made), inputs.rows);
  const std::vector<at::Tensor> added =
      ByVideo(made - Transformer::AllRows(inputs, inputs.x), inputs.rows);
  for (size_t i = 0; i < full.attempts.size(); ++i) {
    Attempt& step = *full.attempts[i];
    velocities[full.positions[i]] = own[i];
    // A view of several videos' rows would keep the memory of all of them.
    if (step.is_kept()) {
      step.cache.Keep(step.point(), full.added[i], added.size() == 1 ? added[i] : added[i].clone());
    }
  }
}

}  // namespace reel::model::ltx
