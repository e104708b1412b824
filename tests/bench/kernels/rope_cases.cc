// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/ltx_rope/ltx_rope_table.h"
#include "kernels/rope/rope.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

constexpr int64_t kPeriod = 4;
constexpr int64_t kHeadWidth = 64;
constexpr int64_t kSplitHead = 128;  // LTX-2's video

// The table of a grid of one row of tokens a frame, or of 7x16x24 for the model's 2,688 tokens.
LtxRopeTableView FactoredTable(BenchTensors& tensors, int64_t tokens, int64_t width,
                               int64_t split_head) {
  const bool model = tokens == 7 * 16 * 24;
  const auto made =
      model ? MakeLtxRopeTable(7, 16, 24, 25, width) : MakeLtxRopeTable(tokens, 1, 1, 25, width);
  if (!made.ok()) return {};
  LtxRopeTableView view;
  view.cos_sin =
      tensors.Table(Dtype::kF32, {made->rows, made->frequencies, 2}, made->cos_sin.data());
  view.index = tensors.Table(Dtype::kI32, {1, tokens, 3}, made->index.data());
  view.split_head = split_head;
  return view;
}

struct RopeForm {
  const char* op;
  bool dense = false;
  int64_t split_head = 0;
};

// The table makes every token another one: no period, the reference computes all of them.
BenchCase RopeCase(RopeForm form, BenchSize size, Dtype dtype) {
  const bool norm = std::string(form.op) == "qk_norm_rope";
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const int64_t batch = rows % 2 == 0 ? 2 : 1;
    const int64_t tokens = rows / batch;
    const std::vector<int64_t> sizes = {batch, tokens, size.width};
    QkNormRopeArgs args;
    args.q = t.Input(dtype, sizes, kPeriod * size.width);
    args.q_out = t.Output(dtype, sizes);
    args.k = t.Input(dtype, sizes, kPeriod * size.width);
    args.k_out = t.Output(dtype, sizes);
    LtxRopeTableView table;
    if (form.dense) {
      const std::vector<int64_t> all = {1, tokens, size.width};
      table.cos = t.Input(Dtype::kF32, all, kPeriod * size.width);
      table.sin = t.Input(Dtype::kF32, all, kPeriod * size.width);
    } else {
      table = FactoredTable(t, tokens, size.width, form.split_head);
    }
    if (!norm) {
      const LtxRopeArgs plain{args.q, args.q_out, args.k, args.k_out, table};
      return [plain](const Execution& run) { return LtxRope(plain, run); };
    }
    args.q_weight = t.Input(dtype, {size.width}, size.width);
    args.k_weight = t.Input(dtype, {size.width}, size.width);
    args.table = table;
    return [args](const Execution& run) { return QkNormRope(args, run); };
  };
  return {
      .op = form.op,
      .shape = absl::StrCat("q, k ", size.rows, "x", size.width, form.dense ? " dense table" : "",
                            form.split_head > 0 ? " split heads" : ""),
      .dtype = dtype,
      .units = size.rows,
      .period = size.rows,
      .make = make};
}

BenchCase RotaryCase(bool grid, BenchSize size, Dtype dtype) {
  const auto make = [=](BenchTensors& t, int64_t rows) -> BenchOp {
    const std::vector<int64_t> sizes = {1, rows, size.width / kHeadWidth, kHeadWidth};
    const TensorView q = t.Input(dtype, sizes, kPeriod * size.width);
    const TensorView q_out = t.Output(dtype, sizes);
    const TensorView k = t.Input(dtype, sizes, kPeriod * size.width);
    const TensorView k_out = t.Output(dtype, sizes);
    if (!grid) {
      Rope1dArgs args;
      args.q = q;
      args.q_out = q_out;
      args.k = k;
      args.k_out = k_out;
      return [args](const Execution& run) { return Rope1d(args, run); };
    }
    Rope3dArgs args;
    args.q = q;
    args.q_out = q_out;
    args.k = k;
    args.k_out = k_out;
    args.frames = rows;
    args.height = args.width = 1;
    return [args](const Execution& run) { return Rope3d(args, run); };
  };
  return {.op = grid ? "rope_3d" : "rope_1d",
          .shape = absl::StrCat("q, k ", size.rows, "x", size.width / kHeadWidth, "x", kHeadWidth),
          .dtype = dtype,
          .units = size.rows,
          .period = size.rows,
          .make = make};
}

}  // namespace

void AddRopeCases(BenchSize size, Dtype dtype, std::vector<BenchCase>& cases) {
  cases.push_back(RopeCase({"qk_norm_rope"}, size, dtype));
  cases.push_back(RopeCase({"qk_norm_rope", true}, size, dtype));
  if (size.width % kSplitHead == 0) {
    cases.push_back(RopeCase({.op = "qk_norm_rope", .split_head = kSplitHead}, size, dtype));
  }
  cases.push_back(RopeCase({"ltx_rope"}, size, dtype));
  cases.push_back(RotaryCase(false, size, dtype));
  cases.push_back(RotaryCase(true, size, dtype));
}

}  // namespace reel::kernels
