// SPDX-License-Identifier: Apache-2.0
// Products with tensor cores behind them: bound by arithmetic, so rows of a report tell TFLOP/s.
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/norm_linear/norm_linear.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;
constexpr int64_t kOutputPeriod = 64;

}  // namespace

void AddNormLinearCases(BenchSize size, int64_t outputs, Dtype dtype,
                        std::vector<BenchCase>& cases) {
  for (const bool layer : {false, true}) {
    const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
      NormLinearArgs args;
      args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
      args.linear.weight = t.Input(dtype, {outputs, size.width}, kOutputPeriod * size.width);
      args.linear.bias = t.Input(Dtype::kF32, {outputs}, outputs);
      if (layer) args.linear.sums = t.Input(Dtype::kF32, {outputs}, outputs);
      args.out = t.Output(dtype, {rows, outputs});
      return [args](const Execution& run) { return NormLinear(args, run); };
    };
    const auto width = static_cast<double>(size.width);
    cases.push_back({.op = "norm_linear",
                     .shape = absl::StrCat(size.rows, "x", size.width, " to ", outputs,
                                           layer ? " layer norm" : ""),
                     .dtype = dtype,
                     .units = size.rows,
                     .period = kPeriod,
                     .make = make,
                     .operations = 2 * static_cast<double>(size.rows * outputs) * width,
                     .tolerance = 0x1p-24 * 32 * std::fmax(1, std::sqrt(width) / 8),
                     .without = dtype == Dtype::kF32 ? "sm80" : ""});
  }
}

}  // namespace reel::kernels
