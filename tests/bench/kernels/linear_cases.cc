// SPDX-License-Identifier: Apache-2.0
// Products with tensor cores behind them: bound by arithmetic, so rows of a report tell TFLOP/s.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/conv3d/conv3d.h"
#include "kernels/linear/linear.h"
#include "kernels/norm_linear/norm_linear.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;
constexpr int64_t kOutputPeriod = 64;

BenchCase LinearCase(BenchSize size, int64_t outputs, bool bias, Dtype dtype) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    LinearArgs args;
    args.x = t.Input(dtype, {rows, size.width}, kPeriod * size.width);
    args.weight = t.Input(dtype, {outputs, size.width}, kOutputPeriod * size.width);
    if (bias) args.bias = t.Input(dtype, {outputs}, outputs);
    args.out = t.Output(dtype, {rows, outputs});
    return [args](const Execution& run) { return Linear(args, run); };
  };
  const auto width = static_cast<double>(size.width);
  return {.op = "linear",
          .shape = absl::StrCat(size.rows, "x", size.width, " to ", outputs,
                                bias ? "" : " without bias"),
          .dtype = dtype,
          .units = size.rows,
          .period = kPeriod,
          .make = make,
          .operations = 2 * static_cast<double>(size.rows * outputs) * width,
          .tolerance = 0x1p-24 * 32 * std::fmax(1, std::sqrt(width) / 8)};
}

// Small, for a row of x that is a row of the weights as well must stay within fp16.
TensorView Scales(BenchTensors& t, int64_t count, int64_t period) {
  std::vector<float> scales;
  for (int64_t i = 0; i < count; ++i) {
    scales.push_back(0x1p-7f * (1 + static_cast<float>(i % period) / static_cast<float>(period)));
  }
  return t.Table(Dtype::kF32, {count}, scales.data());
}

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
                     .tolerance = 0x1p-24 * 32 * std::fmax(1, std::sqrt(width) / 8)});
  }
}

void AddLinearCases(BenchSize size, int64_t outputs, Dtype dtype, std::vector<BenchCase>& cases) {
  for (const bool bias : {true, false}) cases.push_back(LinearCase(size, outputs, bias, dtype));
}

void AddInt8LinearCase(BenchSize size, int64_t outputs, Dtype dtype,
                       std::vector<BenchCase>& cases) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    LinearArgs args;
    args.x = t.Input(Dtype::kI8, {rows, size.width}, kPeriod * size.width);
    args.weight = t.Input(Dtype::kI8, {outputs, size.width}, kOutputPeriod * size.width);
    args.x_scale = Scales(t, rows, kPeriod);
    args.weight_scale = Scales(t, outputs, kOutputPeriod);
    args.bias = t.Input(dtype, {outputs}, outputs);
    args.out = t.Output(dtype, {rows, outputs});
    return [args](const Execution& run) { return Linear(args, run); };
  };
  cases.push_back({.op = "linear",
                   .shape = absl::StrCat(size.rows, "x", size.width, " to ", outputs, " in int8"),
                   .dtype = dtype,
                   .units = size.rows,
                   .period = kPeriod,
                   .make = make,
                   .operations = 2 * static_cast<double>(size.rows * outputs * size.width)});
}

void AddInt8LinearCases(Dtype dtype, std::vector<BenchCase>& cases) {
  if (dtype == Dtype::kF32) return;
  for (const int64_t outputs : {2048, 6144, 8192}) {
    AddInt8LinearCase({5376, 2048}, outputs, dtype, cases);
  }
  AddInt8LinearCase({5376, 8192}, 2048, dtype, cases);
}

// A kernel of 3 taps each way over clips of channels-last frames, zeros around the picture.
void AddConv3dCase(BenchVideo size, int64_t outputs, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto channels_first = [](TensorView view) {  // [B,F,H,W,C] as [B,C,F,H,W]
    std::rotate(view.sizes.begin() + 1, view.sizes.begin() + 4, view.sizes.begin() + 5);
    std::rotate(view.strides.begin() + 1, view.strides.begin() + 4, view.strides.begin() + 5);
    return view;
  };
  const auto make = [=](BenchTensors& t, int64_t clips) -> BenchOp {
    const auto [frames, height, width, channels] = size;
    Conv3dArgs args;
    args.x = channels_first(t.Input(dtype, {clips, frames + 2, height, width, channels},
                                    (frames + 2) * height * width * channels));
    args.weight = t.Input(dtype, {outputs, channels, 3, 3, 3}, outputs * channels * 27);
    args.bias = t.Input(dtype, {outputs}, outputs);
    args.out = channels_first(t.Output(dtype, {clips, frames, height, width, outputs}));
    args.padding = {0, 1, 1};
    return [args](const Execution& run) { return Conv3d(args, run); };
  };
  const auto pixels = static_cast<double>(size.frames * size.height * size.width);
  cases.push_back(
      {.op = "conv3d",
       .shape = absl::StrCat(size.frames, "x", size.height, "x", size.width, "x", size.channels,
                             " to ", outputs),
       .dtype = dtype,
       .units = 1,
       .period = 1,
       .make = make,
       .operations = 2 * pixels * static_cast<double>(size.channels * outputs) * 27,
       .tolerance =
           0x1p-24 * 32 * std::fmax(1, std::sqrt(static_cast<double>(size.channels) * 27) / 8)});
}

}  // namespace reel::kernels
