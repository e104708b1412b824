// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_step.h"

#include <utility>

namespace reel::model::ltx2 {

DenoiseStep::DenoiseStep(const TransformerRanks& ranks, const std::vector<DenoiseState*>& states,
                         AdapterColumns* columns)
    : ranks_(ranks), states_(states), columns_(columns), adapters_(Placed()) {
  std::vector<ClipCall> first;
  for (DenoiseState* state : states) {
    called_.push_back(clips_.size());
    clips_.emplace_back(*state, ranks_.first().dtype());
    first.push_back(clips_.back().first_call());
    first.back().adapters = AdaptersOf(called_.back());
  }
  calls_.emplace(ranks_, std::move(first));
}

at::Tensor DenoiseStep::Placed() {
  if (columns_ == nullptr) return {};
  std::vector<const AppliedAdapters*> jobs;
  for (const DenoiseState* state : states_) jobs.push_back(&state->adapters);
  return columns_->Place(jobs);
}

at::Tensor DenoiseStep::AdaptersOf(size_t clip) const {
  const auto row = static_cast<int64_t>(clip);
  return adapters_.defined() ? adapters_.slice(0, row, row + 1) : at::Tensor();
}

bool DenoiseStep::Next(const Ops& ops, size_t blocks) {
  Placed();  // others may have had the columns since
  for (; blocks > 0 && !done_; --blocks) {
    calls_->Next(ops);
    if (calls_->done()) EndCalls();
  }
  return done_;
}

void DenoiseStep::EndCalls() {
  std::vector<StreamTokens> clean = calls_->Clean();
  std::vector<ClipCall> next;
  std::vector<size_t> called;
  for (size_t i = 0; i < called_.size(); ++i) {
    std::optional<ClipCall> more = clips_[called_[i]].Take(std::move(clean[i]));
    if (!more.has_value()) continue;
    next.push_back(*std::move(more));
    next.back().adapters = AdaptersOf(called_[i]);
    called.push_back(called_[i]);
  }
  if (!next.empty()) {
    called_ = std::move(called);
    calls_.emplace(ranks_, std::move(next));
    return;
  }
  for (ClipStep& clip : clips_) clip.Commit();
  done_ = true;
}

}  // namespace reel::model::ltx2
