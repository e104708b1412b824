// SPDX-License-Identifier: Apache-2.0
// A call of norm_linear with what it should give; for the tests of the operator and of what
// prepares its weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/norm_linear/norm_linear.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

inline constexpr double kProductTerms = 32;  // of 2^-24 of the terms: fp32 sums, in any order

// Tuned variants have 16-bit types alone.
inline std::vector<OpVariant> NormLinearVariants() {
  std::vector<OpVariant> variants = VariantsOf("norm_linear");
  std::erase_if(variants, [](const OpVariant& each) {
    return !TakesEverything(each) && each.dtype == Dtype::kF32;
  });
  return variants;
}

struct NormLinearForm {
  bool layer = false;
  bool bias = true;
  bool fp32_bias = false;
  double mean = 0;  // of the rows, in deviations
  double eps = 1e-6;
};

struct NormLinearSizes {
  std::vector<int64_t> rows;
  int64_t width = 0;
  int64_t outputs = 0;

  std::vector<int64_t> With(int64_t last) const {
    std::vector<int64_t> all = rows;
    all.push_back(last);
    return all;
  }
};

inline double Dot(const double* a, const double* b, int64_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

// Mean (0 unless centred) and rstd of a row.
struct ReferenceNorm {
  ReferenceNorm(const double* x, int64_t width, bool centred, double eps) {
    const auto count = static_cast<double>(width);
    if (centred) mean = std::accumulate(x, x + width, 0.0) / count;
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    if (squares > std::numeric_limits<float>::max()) {
      squares = std::numeric_limits<double>::infinity();
    };
    rstd = 1 / std::sqrt(squares / count + eps);
  }
  double mean = 0;
  double rstd = 0;
};

// A call on a weight that is prepared already.
struct NormLinearCase : OpCase {
  NormLinearCase(Dtype dtype, const NormLinearSizes& of, const NormLinearForm& use = {},
                 Layout layout = Layout::kContiguous,
                 std::optional<Layout> out_layout = std::nullopt)
      : sizes(of),
        form(use),
        x(dtype, of.With(of.width), layout),
        weight(dtype, {of.outputs, of.width}, layout),
        out(dtype, of.With(of.outputs), out_layout.value_or(layout)),
        bias(use.fp32_bias ? Dtype::kF32 : dtype, {of.outputs}),
        sums(Dtype::kF32, {of.outputs}) {
    x.FillNormal(1);
    weight.FillNormal(2);
    bias.FillNormal(3);
    if (use.mean != 0) x.SetAll([&](int64_t i) { return x.Get(i) + use.mean; });
    Sum();
  }
  // After a change of the weight.
  void Sum() {
    for (int64_t o = 0; o < sizes.outputs; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < sizes.width; ++i) sum += weight.Get(o * sizes.width + i);
      sums.Set(o, sum);
    }
  }

  NormLinearArgs Args(ForcedRun& run) {
    NormLinearArgs args{.x = run.Use(x),
                        .linear = {run.Use(weight), std::nullopt, std::nullopt},
                        .out = run.Use(out),
                        .eps = form.eps};
    if (form.bias) args.linear.bias = run.Use(bias);
    if (form.layer) args.linear.sums = run.Use(sums);
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return NormLinear(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    const std::vector<double> all_x = x.Values(), all_weights = weight.Values();
    std::vector<double> sizes_of_x(all_x.size()), sizes_of_weights(all_weights.size());
    std::transform(all_x.begin(), all_x.end(), sizes_of_x.begin(),
                   [](double v) { return std::abs(v); });
    std::transform(all_weights.begin(), all_weights.end(), sizes_of_weights.begin(),
                   [](double v) { return std::abs(v); });
    for (int64_t row = 0; row < x.size(); row += sizes.width) {
      const ReferenceNorm norm(&all_x[static_cast<size_t>(row)], sizes.width, form.layer, form.eps);
      for (int64_t o = 0; o < sizes.outputs; ++o) {
        const auto at = static_cast<size_t>(o * sizes.width);
        const double product = Dot(&all_x[static_cast<size_t>(row)], &all_weights[at], sizes.width);
        const double terms =
            Dot(&sizes_of_x[static_cast<size_t>(row)], &sizes_of_weights[at], sizes.width);
        const double centre = form.layer ? norm.mean * sums.Get(o) : 0;
        const double shift = form.bias ? bias.Get(o) : 0;
        expected.Add(norm.rstd * (product - centre) + shift,
                     norm.rstd * (terms + std::abs(centre)) + std::abs(shift));
      }
    }
    return {expected};
  }

  NormLinearSizes sizes;
  NormLinearForm form;
  HostTensor x, weight, out, bias, sums;
};

}  // namespace reel::kernels
