// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/attention_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

AttentionCase::AttentionCase(Dtype dtype, const AttentionSizes& of, Layout layout,
                             const std::vector<int64_t>& bias_sizes)
    : sizes(of),
      q(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
      k(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
      v(dtype, {of.batch, of.keys, of.heads, of.width}, layout),
      out(dtype, {of.batch, of.queries, of.heads, of.width}, layout),
      bias(dtype, bias_sizes.empty() ? std::vector<int64_t>{1, 1, 1, of.keys} : bias_sizes),
      lengths(Dtype::kI32, {of.batch}),
      q_scale(Dtype::kF32, {of.batch, of.queries}),
      has_bias(!bias_sizes.empty()) {
  q.FillNormal(1);
  k.FillNormal(2);
  v.FillNormal(3);
  bias.FillNormal(4);
  q_scale.FillNormal(5);
}

AttentionArgs AttentionCase::Args(ForcedRun& run) {
  AttentionArgs args{.q = run.Use(q),
                     .k = run.Use(k),
                     .v = run.Use(v),
                     .bias = std::nullopt,
                     .key_lengths = std::nullopt,
                     .q_scale = std::nullopt,
                     .out = run.Use(out),
                     .scale = scale};
  if (has_bias) args.bias = run.Use(bias);
  if (has_lengths) args.key_lengths = run.Use(lengths);
  if (has_q_scale) args.q_scale = run.Use(q_scale);
  return args;
}

absl::Status AttentionCase::Call(ForcedRun& run) {
  return cross ? CrossAttention(Args(run), run.execution()) : Attention(Args(run), run.execution());
}

double AttentionCase::BiasAt(int64_t b, int64_t s, int64_t n, int64_t l) const {
  if (!has_bias) return 0;
  const TensorView view = bias.view();
  const auto at = [&](int dim, int64_t index) { return view.size(dim) == 1 ? 0 : index; };
  return bias.Get(((at(0, b) * view.size(1) + at(1, n)) * view.size(2) + at(2, s)) * view.size(3) +
                  l);
}

int64_t AttentionCase::KeysOf(int64_t b) const {
  if (!has_lengths) return sizes.keys;
  return std::clamp<int64_t>(static_cast<int64_t>(lengths.Get(b)), 0, sizes.keys);
}

double AttentionCase::Score(int64_t b, int64_t s, int64_t n, int64_t l) const {
  double dot = 0;
  for (int64_t i = 0; i < sizes.width; ++i) {
    dot += q.Get(((b * sizes.queries + s) * sizes.heads + n) * sizes.width + i) *
           k.Get(((b * sizes.keys + l) * sizes.heads + n) * sizes.width + i);
  }
  const double by = scale == 0 ? 1 / std::sqrt(static_cast<double>(sizes.width)) : scale;
  return by * (has_q_scale ? q_scale.Get(b * sizes.queries + s) : 1) * dot + BiasAt(b, s, n, l);
}

void AttentionCase::AddRow(int64_t b, int64_t s, int64_t n, Expected& expected) const {
  std::vector<double> p;
  for (int64_t l = 0; l < KeysOf(b); ++l) p.push_back(Score(b, s, n, l));
  const double largest = p.empty() ? -kInf : *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& each : p) sum += each = largest == -kInf ? 0 : std::exp(each - largest);
  for (int64_t i = 0; i < sizes.width; ++i) {
    double value = 0, magnitude = 0;
    for (int64_t l = 0; l < KeysOf(b) && sum > 0; ++l) {
      const double term = p[static_cast<size_t>(l)] / sum *
                          v.Get(((b * sizes.keys + l) * sizes.heads + n) * sizes.width + i);
      value += term;
      magnitude += std::abs(term);
    }
    expected.Add(value, magnitude);
  }
}

std::vector<Expected> AttentionCase::Reference() const {
  Expected expected{&out, {}, {}};
  for (int64_t b = 0; b < sizes.batch; ++b) {
    for (int64_t s = 0; s < sizes.queries; ++s) {
      for (int64_t n = 0; n < sizes.heads; ++n) AddRow(b, s, n, expected);
    }
  }
  return {expected};
}

}  // namespace reel::kernels
