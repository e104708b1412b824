// SPDX-License-Identifier: Apache-2.0
// Attention, over a prompt and over keys that another kernel has left.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/attention/attention.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;

// Tuned variants round a weight to the type before it meets its value.
double WeightRounding(Dtype dtype) {
  return dtype == Dtype::kF32 ? 0 : (dtype == Dtype::kF16 ? 0x1p-10 : 0x1p-7);
}

}  // namespace

// The keys that cuDNN's kernel leaves of a clip of 1216x704 with 121 frames, 64 of 13,376.
void AddAttentionRestCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const std::vector<int64_t> queries = {1, rows, size.heads, size.head_width};
    const std::vector<int64_t> keys = {1, size.keys, size.heads, size.head_width};
    const int64_t width = size.heads * size.head_width;
    AttentionRestArgs args;
    args.q = t.Input(dtype, queries, kPeriod * width);
    args.k = t.Input(dtype, keys, size.keys * width);
    args.v = t.Input(dtype, keys, size.keys * width);
    args.before = t.Input(dtype, queries, kPeriod * width);
    args.log_sums = t.Input(Dtype::kF32, {1, rows, size.heads}, kPeriod * size.heads);
    args.out = t.Output(dtype, queries);
    return [args](const Execution& run) { return AttentionRest(args, run); };
  };
  cases.push_back({.op = size.op,
                   .shape = absl::StrCat("1x", size.rows, "x", size.heads, "x", size.head_width,
                                         ", ", size.keys, " further keys"),
                   .dtype = dtype,
                   .units = size.rows,
                   .period = kPeriod,
                   .make = make,
                   .tolerance = 0x1p-24 * 32 + WeightRounding(dtype)});
}

// Every batch has the same keys, so that queries repeat with their outputs.
void AddAttentionCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases) {
  using Mask = BenchAttention::Mask;
  constexpr const char* kMasks[] = {"", " and a bias", " and lengths"};
  const bool cross = std::string(size.op) == "cross_attention";
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const int64_t batch = rows % (2 * kPeriod) == 0 ? 2 : 1;
    const std::vector<int64_t> queries = {batch, rows / batch, size.heads, size.head_width};
    const std::vector<int64_t> keys = {batch, size.keys, size.heads, size.head_width};
    const int64_t width = size.heads * size.head_width;
    AttentionArgs args;
    args.q = t.Input(dtype, queries, kPeriod * width);
    args.k = t.Input(dtype, keys, size.keys * width);
    args.v = t.Input(dtype, keys, size.keys * width);
    args.out = t.Output(dtype, queries);
    if (size.mask == Mask::kKeyBias) {
      args.bias = t.Input(dtype, {batch, 1, 1, size.keys}, size.keys);
    } else if (size.mask == Mask::kLengths) {
      const std::vector<int32_t> lengths(2, static_cast<int32_t>(size.keys));  // of most batches
      args.key_lengths = t.Table(Dtype::kI32, {batch}, lengths.data());
    }
    if (!cross) return [args](const Execution& run) { return Attention(args, run); };
    return [args](const Execution& run) { return CrossAttention(args, run); };
  };
  const int64_t batch = size.rows % (2 * kPeriod) == 0 ? 2 : 1;
  cases.push_back(
      {.op = size.op,
       .shape = absl::StrCat(batch, "x", size.rows / batch, "x", size.heads, "x", size.head_width,
                             ", ", size.keys, " keys", kMasks[static_cast<int>(size.mask)]),
       .dtype = dtype,
       .units = size.rows,
       .period = kPeriod,
       .make = make,
       .tolerance = 0x1p-24 * 32 + (cross ? WeightRounding(dtype) : 0)});
}

void AddAttentionIn8BitsCase(BenchAttention size, Dtype dtype, std::vector<BenchCase>& cases) {
  struct Form {
    const char *name, *variant;
    bool int8_scores;
    double exact_share;
    double steepness;  // flat scores: random keys of a tile are alike for them alone
  };
  for (const Form form : {Form{"int8", kInt8Sm90, true, 0, 1},
                          {"e4m3", kE4m3Sm90, false, 0, 1},
                          {"a quarter of the keys", kRoutedSm90, false, 0.25, 0.05}}) {
    const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
      const std::vector<int64_t> keys = {1, size.keys, size.heads, size.head_width};
      const int64_t width = size.heads * size.head_width;
      AttentionArgs args;
      args.q = t.Input(dtype, {1, rows, size.heads, size.head_width}, kPeriod * width);
      args.k = t.Input(dtype, keys, size.keys * width, 1);
      args.v = t.Input(dtype, keys, size.keys * width, 2);
      args.out = t.Output(dtype, {1, rows, size.heads, size.head_width});
      args.int8_scores = form.int8_scores;
      args.exact_share = form.exact_share;
      args.scale = form.steepness / std::sqrt(static_cast<double>(size.head_width));
      args.scratch =
          t.Scratch(form.exact_share == 0 ? AttentionScratchBytes(args.k)
                                          : RoutedScratchBytes(args.q, args.k, form.exact_share));
      return [args](const Execution& run) { return Attention(args, run); };
    };
    const double products = 2 * static_cast<double>(size.rows * size.keys);
    cases.push_back({.op = size.op,
                     .shape = absl::StrCat("1x", size.rows, "x", size.heads, "x", size.head_width,
                                           ", ", size.keys, " keys, ", form.name),
                     .dtype = dtype,
                     .units = size.rows,
                     .period = kPeriod,
                     .make = make,
                     .operations = 2 * products * static_cast<double>(size.heads * size.head_width),
                     .tolerance = 0.1,
                     .variant = form.variant});
  }
}

void AddLongAttentionCases(Dtype dtype, std::vector<BenchCase>& cases) {
  // The models' own, 2x2688x32x64, would take generic a tenth of a second.
  AddAttentionCase({"attention", 1024, 512, 32, 64}, dtype, cases);
  if (dtype == Dtype::kF32) return;
  for (const auto& [rows, width] : {BenchSize{6144, 64}, {13376, 64}, {6144, 128}, {32640, 128}}) {
    AddAttentionIn8BitsCase({"attention", rows, rows, 32, width}, dtype, cases);
  }
}

}  // namespace reel::kernels
