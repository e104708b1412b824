// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_step.h"

namespace reel::model::ltx2 {

DenoiseStep::DenoiseStep(const Transformer& transformer, DenoiseState& state)
    : transformer_(transformer), clip_(state, transformer.dtype()) {
  calls_.emplace(transformer, clip_.first_call());
}

bool DenoiseStep::Next(const Ops& ops, size_t blocks) {
  for (; blocks > 0 && !done_; --blocks) {
    calls_->Next(ops);
    if (calls_->done()) EndCalls();
  }
  return done_;
}

void DenoiseStep::EndCalls() {
  if (std::optional<ClipCall> next = clip_.Take(calls_->Clean()); next.has_value()) {
    calls_.emplace(transformer_, *std::move(next));
    return;
  }
  clip_.Commit();
  done_ = true;
}

}  // namespace reel::model::ltx2
