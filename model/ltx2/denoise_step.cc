// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_step.h"

#include <utility>

namespace reel::model::ltx2 {

DenoiseStep::DenoiseStep(const Transformer& transformer, const std::vector<DenoiseState*>& states)
    : transformer_(transformer) {
  std::vector<ClipCall> first;
  for (DenoiseState* state : states) {
    called_.push_back(clips_.size());
    clips_.emplace_back(*state, transformer.dtype());
    first.push_back(clips_.back().first_call());
  }
  calls_.emplace(transformer, std::move(first));
}

bool DenoiseStep::Next(const Ops& ops, size_t blocks) {
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
    called.push_back(called_[i]);
  }
  if (!next.empty()) {
    called_ = std::move(called);
    calls_.emplace(transformer_, std::move(next));
    return;
  }
  for (ClipStep& clip : clips_) clip.Commit();
  done_ = true;
}

}  // namespace reel::model::ltx2
