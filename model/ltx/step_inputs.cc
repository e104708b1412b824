// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/step_inputs.h"

namespace reel::model::ltx {
namespace {

// One behind the other, where any are defined.
at::Tensor JoinedKeys(const std::vector<TextContext>& parts, at::Tensor TextKeys::* member) {
  std::vector<at::Tensor> own;
  for (const TextContext& part : parts) {
    if ((part.keys.*member).defined()) own.push_back(part.keys.*member);
  }
  return own.empty() ? at::Tensor() : at::cat(own, 1);
}

// The times of all videos, and which of them each token has.
void JoinTimes(const std::vector<StepInputs>& videos, VelocityInputs& inputs) {
  std::vector<at::Tensor> of_token, embedded, rows;
  int64_t before = 0;
  for (const StepInputs& video : videos) {
    const StepTimes& times = video.attempt->times;
    if (times.of_token.defined()) of_token.push_back(times.of_token + before);
    embedded.push_back(times.rows.embedded);
    rows.push_back(times.rows.rows);
    before += times.values.size(0);
  }
  inputs.time = {at::cat(embedded), at::cat(rows)};
  inputs.time_of = of_token.empty() ? at::Tensor() : at::cat(of_token);
}

}  // namespace

const TextContext& JoinedTexts::Of(const std::vector<TextContext>& parts) {
  bool same = of_.size() == parts.size();
  for (size_t i = 0; same && i < parts.size(); ++i) {
    same = of_[i].is_same(parts[i].keys.k);
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
  joined_.keys = {JoinedKeys(parts, &TextKeys::k), JoinedKeys(parts, &TextKeys::v),
                  JoinedKeys(parts, &TextKeys::only)};
  for (const TextContext& part : parts) of_.push_back(part.keys.k);
  return joined_;
}

VelocityInputs JoinedInputs(const std::vector<StepInputs>& videos, JoinedTexts& texts) {
  const Attempt& first = *videos.front().attempt;
  const GuidancePoint& point = first.point();
  VelocityInputs inputs = {
      .x = videos.front().x,
      .time = first.times.rows,
      .time_of = first.times.of_token,
      .rope = first.state.rope,
      .text = videos.front().text,
      .rows = {videos.front().text.rows()},
      .perturbed = point.uses_perturbed() ? point.blocks : std::vector<int64_t>(),
      .ranks = {},
      .adapters = first.adapters};
  if (videos.size() == 1) return inputs;
  std::vector<at::Tensor> x, adapters;
  std::vector<TextContext> parts;
  inputs.rows.clear();
  for (const StepInputs& video : videos) {
    x.push_back(video.x);
    if (video.attempt->adapters.defined()) adapters.push_back(video.attempt->adapters);
    parts.push_back(video.text);
    inputs.rows.push_back(video.text.rows());
  }
  inputs.x = at::cat(x);
  if (!adapters.empty()) inputs.adapters = at::cat(adapters);
  inputs.text = texts.Of(parts);
  JoinTimes(videos, inputs);
  return inputs;
}

}  // namespace reel::model::ltx
