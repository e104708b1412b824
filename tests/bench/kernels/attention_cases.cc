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

}  // namespace reel::kernels
