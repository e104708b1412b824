// SPDX-License-Identifier: Apache-2.0
// A call of rms_norm, and what its test programs share.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/rms_norm/rms_norm.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {

// What is optional about a call.
struct RmsNormForm {
  bool weight = true;
  bool bias = false;
  bool fp32_vectors = false;
  bool round_before_weight = false;
  double weight_offset = 0;
  double eps = 1e-6;
  bool e4m3 = false;  // the output, with a scale for each row
  std::optional<double> static_scale = std::nullopt;
};

struct RmsNormCase : OpCase {
  RmsNormCase(Dtype dtype, const std::vector<int64_t>& sizes, const RmsNormForm& use = {},
              Layout layout = Layout::kContiguous)
      : form(use),
        x(dtype, sizes, layout),
        out(use.e4m3 ? Dtype::kE4m3 : dtype, sizes, layout),
        out_scale(Dtype::kF32, {sizes.begin(), sizes.end() - 1}, layout),
        weight(use.fp32_vectors ? Dtype::kF32 : dtype, {sizes.back()}),
        bias(weight.view().dtype, {sizes.back()}) {
    x.FillNormal(1);
    weight.FillNormal(2);
    bias.FillNormal(3);
  }

  RmsNormArgs Args(ForcedRun& run) {
    RmsNormArgs args{.x = run.Use(x),
                     .weight = std::nullopt,
                     .bias = std::nullopt,
                     .out = run.Use(out),
                     .eps = form.eps,
                     .weight_offset = form.weight_offset,
                     .round_before_weight = form.round_before_weight};
    if (form.weight) args.weight = run.Use(weight);
    if (form.bias) args.bias = run.Use(bias);
    if (form.e4m3 && !form.static_scale.has_value()) args.out_scale = run.Use(out_scale);
    args.static_out_scale = form.static_scale;
    return args;
  }

  absl::Status Call(ForcedRun& run) override { return RmsNorm(Args(run), run.execution()); }

  std::vector<Expected> Reference() const override {
    Expected expected{&out, {}, {}};
    if (!form.static_scale.has_value()) expected.scale = &out_scale;
    expected.fixed_scale = form.static_scale.value_or(0);
    const int64_t width = weight.size();
    for (int64_t begin = 0; begin < x.size(); begin += width) {
      double squares = 0;
      for (int64_t i = 0; i < width; ++i) squares += x.Get(begin + i) * x.Get(begin + i);
      if (squares > std::numeric_limits<float>::max())
        squares = std::numeric_limits<double>::infinity();
      const double rstd = 1 / std::sqrt(squares / static_cast<double>(width) + form.eps);
      for (int64_t i = 0; i < width; ++i) {
        const double scaled =
            x.Get(begin + i) * rstd * (form.weight ? weight.Get(i) + form.weight_offset : 1);
        const double shift = form.bias ? bias.Get(i) : 0;
        expected.Add(scaled + shift, std::abs(scaled) + std::abs(shift));
      }
    }
    return {expected};
  }

  RmsNormForm form;
  HostTensor x;
  HostTensor out;
  HostTensor out_scale;
  HostTensor weight;
  HostTensor bias;
};

class RmsNormTestBase : public OpTest {
 protected:
  RmsNormTestBase() : OpTest("rms_norm") {}
  bool Right(RmsNormCase& call) {
    Bound bound = BoundFor(dtype(), 8 + std::log2(static_cast<double>(call.weight.size())));
    if (call.form.round_before_weight) bound.ulps *= 2;  // two roundings
    return Matches(call, bound);
  }
};

}  // namespace reel::kernels
