// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/velocity_inputs.h"

#include <algorithm>
#include <utility>

namespace reel::model::ltx {

TextContext TextContext::Rows(int64_t first, int64_t count) const {
  TextContext rows;
  const auto begin = has_one_key.begin() + first;
  rows.has_one_key.assign(begin, begin + count);
  const int64_t known = std::count(has_one_key.begin(), begin, true);
  const int64_t own_known = std::count(begin, begin + count, true);
  const auto asking = [&](const at::Tensor& t, int64_t dimension) {
    return t.defined() ? t.slice(dimension, first - known, first - known + count - own_known) : t;
  };
  rows.mask = {asking(mask.bias, 0), asking(mask.lengths, 0)};
  rows.keys = {asking(keys.k, 1), asking(keys.v, 1), {}};
  if (own_known > 0) rows.keys.only = keys.only.slice(1, known, known + own_known);
  return rows;
}

TextKeys TextContext::KeysOf(size_t block) const {
  const auto own = [&](const at::Tensor& t) {
    return t.defined() ? t[static_cast<int64_t>(block)] : t;
  };
  return {own(keys.k), own(keys.v), own(keys.only)};
}

TextContext TextContext::OfFirstBlock() const {
  const auto first = [](const at::Tensor& t) { return t.defined() ? t.slice(0, 0, 1) : t; };
  return {{first(keys.k), first(keys.v), first(keys.only)}, mask, has_one_key};
}

TextContext TextContext::With(absl::FunctionRef<at::Tensor(const at::Tensor&)> made) const {
  const auto of = [&](const at::Tensor& t) { return t.defined() ? made(t) : t; };
  return {{of(keys.k), of(keys.v), of(keys.only)}, {of(mask.bias), of(mask.lengths)}, has_one_key};
}

std::vector<at::Tensor> TextContext::tensors() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& t : {mask.bias, mask.lengths, keys.k, keys.v, keys.only}) {
    if (t.defined()) all.push_back(t);
  }
  return all;
}

TokenLayout LayoutOf(absl::Span<const VelocityInputs> groups, TokenLayout::Order order) {
  std::vector<TokenGroup> layout;
  layout.reserve(groups.size());
  for (const VelocityInputs& inputs : groups) {
    const auto one_each = static_cast<size_t>(inputs.text.rows());
    layout.push_back({.tokens = inputs.x.size(1),
                      .rows = inputs.rows.empty() ? std::vector<int64_t>(one_each, 1) : inputs.rows,
                      .has_one_key = inputs.text.has_one_key,
                      .given = inputs.x.size(0),
                      .perturbs = !inputs.perturbed.empty(),
                      .ranks = inputs.ranks});
  }
  return TokenLayout(std::move(layout), order);
}

at::Tensor ForTokens(const at::Tensor& by_time, const at::Tensor& time_of) {
  if (!time_of.defined()) return by_time.unsqueeze(1);
  return by_time.index_select(0, time_of.flatten()).unflatten(0, time_of.sizes());
}

}  // namespace reel::model::ltx
