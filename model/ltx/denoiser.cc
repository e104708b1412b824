// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/denoiser.h"

namespace reel::model::ltx {

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
    biases.push_back(part.mask.bias);
    if (part.mask.lengths.defined()) lengths.push_back(part.mask.lengths);
  }
  joined_.mask.bias = at::cat(biases);
  if (lengths.size() == parts.size()) joined_.mask.lengths = at::cat(lengths);
  for (size_t block = 0; block < parts[0].blocks.size(); ++block) {
    std::vector<at::Tensor> keys, values;
    for (const TextContext& part : parts) {
      keys.push_back(part.blocks[block].k);
      values.push_back(part.blocks[block].v);
    }
    joined_.blocks.push_back({at::cat(keys), at::cat(values)});
  }
  for (const TextContext& part : parts) of_.push_back(part.blocks[0].k);
  return joined_;
}

void Denoiser::Step(const Ops& ops, absl::Span<DenoiseState* const> states) {
  std::vector<Attempt> attempts;
  attempts.reserve(states.size());
  Company all;
  for (DenoiseState* state : states) {
    all.push_back(&attempts.emplace_back(BeginStep(ops, velocity_.transformer(), *state)));
  }
  if (all.size() == 1) shared_text_ = {};  // nothing is kept for a company that may not come again
  const at::Tensor velocities = velocity_(ops, InputsOf(all, shared_text_));
  int64_t row = 0;
  for (Attempt& attempt : attempts) {
    const int64_t end = row + attempt.point().rows();
    EndStep(attempt, velocities.slice(0, row, end));
    row = end;
  }
  for (Attempt& attempt : attempts) Commit(attempt);
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
