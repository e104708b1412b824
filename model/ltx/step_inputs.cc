// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/step_inputs.h"

namespace reel::model::ltx {
namespace {

// The rows of one behind those of the other, where there are some.
at::Tensor Joined(const std::vector<TextContext>& parts, at::Tensor TextKeys::* member) {
  std::vector<at::Tensor> own;
  for (const TextContext& part : parts) {
    if ((part.keys.*member).defined()) own.push_back(part.keys.*member);
  }
  return own.empty() ? at::Tensor() : at::cat(own, 1);
}

}  // namespace

const TextContext& SharedText::Of(const std::vector<TextContext>& parts) {
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
  joined_.keys = {Joined(parts, &TextKeys::k), Joined(parts, &TextKeys::v),
                  Joined(parts, &TextKeys::only)};
  for (const TextContext& part : parts) of_.push_back(part.keys.k);
  return joined_;
}

StepTimes Joined(const std::vector<Attempt*>& attempts) {
  std::vector<at::Tensor> values, of_token, embedded, rows;
  int64_t before = 0;
  for (const Attempt* attempt : attempts) {
    const StepTimes& times = attempt->times;
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

}  // namespace reel::model::ltx
