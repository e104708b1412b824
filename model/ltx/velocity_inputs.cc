// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/velocity_inputs.h"

#include <algorithm>

namespace reel::model::ltx {

TextContext TextContext::Rows(int64_t first, int64_t count) const {
  TextContext rows;
  const auto begin = has_one_key.begin() + first;
  rows.has_one_key.assign(begin, begin + count);
  const int64_t known = std::count(has_one_key.begin(), begin, true);
  const int64_t own_known = std::count(begin, begin + count, true);
  const auto asking = [&](const at::Tensor& t) {
    return t.defined() ? t.slice(0, first - known, first - known + count - own_known) : t;
  };
  rows.mask = {asking(mask.bias), asking(mask.lengths)};
  for (const TextKeys& keys : blocks) {
    const bool has_known = keys.only.defined() && own_known > 0;
    rows.blocks.push_back(
        {asking(keys.k), asking(keys.v),
         has_known ? keys.only.slice(0, known, known + own_known) : at::Tensor()});
  }
  return rows;
}

StepGroup GroupOf(const VelocityInputs& inputs, SharedRows::Order order) {
  const int64_t clips =
      inputs.rows.empty() ? inputs.text.rows() : static_cast<int64_t>(inputs.rows.size());
  return {inputs,
          {{.of_clip = inputs.rows,
            .clips = clips,
            .has_one_key = inputs.text.has_one_key,
            .perturbs = !inputs.perturbed.empty()},
           order}};
}

at::Tensor ForTokens(const at::Tensor& by_time, const at::Tensor& time_of) {
  if (!time_of.defined()) return by_time.unsqueeze(1);
  return by_time.index_select(0, time_of.flatten()).unflatten(0, time_of.sizes());
}

}  // namespace reel::model::ltx
