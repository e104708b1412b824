// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/ltx_rope/ltx_rope_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<LtxRopeLoops>("loops")};

int64_t WidthOf(const TensorView& x) { return x.rank == 4 ? x.size(2) * x.size(3) : x.size(2); }

template <typename Args>
void CheckSides(const Args& args, ArgumentChecks& checks) {
  checks.Floating("q", args.q, 3, 4);
  checks.Like("q_out", args.q_out, "q", args.q);
  checks.Require(args.k.has_value() == args.k_out.has_value(),
                 "k and k_out must both be given or neither");
  if (!checks.ok()) return;
  checks.Require(WidthOf(args.q) % 2 == 0 && args.q.size(-1) % 2 == 0,
                 absl::StrCat("The width must be even: ", args.q.size(-1)));
  if (!args.k.has_value()) return;
  checks.Like("k", *args.k, "q", args.q);
  checks.Like("k_out", *args.k_out, "q", args.q);
}

template <typename Args>
void CheckOutputs(const Args& args, ArgumentChecks& checks) {
  checks.Output("q_out", args.q_out, {&args.q});
  if (args.k.has_value()) checks.Output("k_out", *args.k_out, {&*args.k});
}

void CheckPerToken(const char* name, const TensorView& view, DtypeMask dtypes, const TensorView& q,
                   int64_t width, ArgumentChecks& checks) {
  checks.Typed(name, view, dtypes, 3, 3);
  checks.Require(
      view.rank == 3 && (view.size(0) == 1 || view.size(0) == q.size(0)) &&
          view.size(1) == q.size(1) && view.size(2) == width,
      checks.ok() ? absl::StrCat("The table does not fit the tokens: ", name, " ", Describe(view),
                                 ", expected [1 or ", q.size(0), ", ", q.size(1), ", ", width, "]")
                  : "");
}

// Three, unless the index says one.
int64_t AxesOf(const LtxRopeTableView& table) {
  return table.index.has_value() && table.index->rank == 3 && table.index->size(2) == 1 ? 1 : 3;
}

void CheckTable(const LtxRopeTableView& table, const TensorView& q, ArgumentChecks& checks) {
  const bool factored = table.cos_sin.has_value() && table.index.has_value();
  const bool dense = table.cos.has_value() && table.sin.has_value();
  checks.Require(factored != dense && table.cos_sin.has_value() == factored &&
                     table.index.has_value() == factored && table.cos.has_value() == dense &&
                     table.sin.has_value() == dense,
                 "The table must be either cos_sin and index, or cos and sin");
  const int64_t split = table.split_head;
  checks.Require(split == 0 || (factored && split > 0 && split % 2 == 0 && WidthOf(q) % split == 0),
                 absl::StrCat("Split heads need cos_sin and index, and must be even parts of the "
                              "width: ",
                              split, " of ", WidthOf(q)));
  if (!checks.ok()) return;
  if (dense) {
    CheckPerToken("cos", *table.cos, MaskOf(Dtype::kF32), q, WidthOf(q), checks);
    CheckPerToken("sin", *table.sin, MaskOf(Dtype::kF32), q, WidthOf(q), checks);
    return;
  }
  const int64_t axes = AxesOf(table);
  CheckPerToken("index", *table.index, MaskOf(Dtype::kI32), q, axes, checks);
  checks.Typed("cos_sin", *table.cos_sin, MaskOf(Dtype::kF32), 3, 3);
  if (!checks.ok()) return;
  const int64_t frequencies = WidthOf(q) / 2 / axes;
  checks.Require(table.cos_sin->is_contiguous() && table.cos_sin->size(1) == frequencies &&
                     table.cos_sin->size(2) == 2,
                 absl::StrCat("The table must be contiguous [R, ", frequencies,
                              ", 2]: ", Describe(*table.cos_sin)));
}

// Addresses tokens [B,S] with the channels of all heads; the head stride is separate.
RowOperand TokensOperand(const TensorView& x, int64_t& head_stride) {
  RowOperand operand{.data = x.data, .dtype = x.dtype, .inner = x.stride(-1), .strides = {}};
  operand.strides[0] = x.stride(0);
  operand.strides[1] = x.stride(1);
  head_stride = x.rank == 4 ? x.stride(2) : 0;
  return operand;
}

// Whether the heads of a view are contiguous, so that they can be treated as one width.
bool HeadsMerge(const TensorView& x) {
  return x.rank == 3 || x.size(2) == 1 || x.stride(2) == x.size(3) * x.stride(3);
}

template <typename Args>
LtxRopeParams ParamsOf(const Args& args) {
  LtxRopeParams params;
  params.shape = {.rows = args.q.size(0) * args.q.size(1),
                  .width = WidthOf(args.q),
                  .dims = 2,
                  .sizes = {args.q.size(0), args.q.size(1)}};
  params.side[0].in = TokensOperand(args.q, params.side[0].in_head_stride);
  params.side[0].out = TokensOperand(args.q_out, params.side[0].out_head_stride);
  bool merge = HeadsMerge(args.q) && HeadsMerge(args.q_out);
  if (args.k.has_value()) {
    params.sides = 2;
    params.side[1].in = TokensOperand(*args.k, params.side[1].in_head_stride);
    params.side[1].out = TokensOperand(*args.k_out, params.side[1].out_head_stride);
    merge = merge && HeadsMerge(*args.k) && HeadsMerge(*args.k_out);
  }
  params.head_width = merge ? params.shape.width : args.q.size(3);
  return params;
}

void AddTable(const LtxRopeTableView& table, LtxRopeParams& params) {
  params.index = VectorOperand(table.index);
  params.cos = VectorOperand(table.cos);
  params.sin = VectorOperand(table.sin);
  if (!table.cos_sin.has_value()) return;
  params.axes = static_cast<int32_t>(AxesOf(table));
  params.half = table.split_head / 2;
  params.cos_sin = static_cast<const float*>(table.cos_sin->data);
  params.frequencies = table.cos_sin->size(1);
}

absl::Status Launch(const OpVariants& rows, LtxRopeParams params, const ArgumentChecks& checks,
                    const Execution& run) {
  auto& side = params.side;
  MergeRowDims(params.shape, {&side[0].in, &side[0].out, &side[0].weight, &side[1].in, &side[1].out,
                              &side[1].weight, &params.index, &params.cos, &params.sin});
  return RunOp({.cpu_variants = rows,
                .dtype = side[0].in.dtype,
                .params = &params,
                .empty = params.shape.rows == 0 || params.shape.width == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

void CheckWeight(const char* name, const std::optional<TensorView>& weight, const TensorView& q,
                 ArgumentChecks& checks) {
  if (!weight.has_value()) return;
  checks.Floating(name, *weight);
  if (checks.ok()) checks.Sizes(name, *weight, {WidthOf(q)});
  checks.VectorDtype(name, *weight, q);
}

}  // namespace

OpVariants LtxRopeCpuVariants() { return MakeVariants<LtxRopeParams>("ltx_rope", kCpuVariants); }
OpVariants QkNormRopeCpuVariants() {
  return MakeVariants<LtxRopeParams>("qk_norm_rope", kCpuVariants);
}

absl::Status LtxRope(const LtxRopeArgs& args, const Execution& run) {
  ArgumentChecks checks("ltx_rope", run.stream);
  CheckSides(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  CheckTable(args.table, args.q, checks);
  CheckOutputs(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  LtxRopeParams params = ParamsOf(args);
  AddTable(args.table, params);
  return Launch(LtxRopeCpuVariants(), params, checks, run);
}

absl::Status QkNormRope(const QkNormRopeArgs& args, const Execution& run) {
  ArgumentChecks checks("qk_norm_rope", run.stream);
  CheckSides(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  CheckWeight("q_weight", args.q_weight, args.q, checks);
  CheckWeight("k_weight", args.k_weight, args.q, checks);
  if (args.table.has_value()) CheckTable(*args.table, args.q, checks);
  checks.Epsilon(args.eps);
  CheckOutputs(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  LtxRopeParams params = ParamsOf(args);
  params.side[0].weight = VectorOperand(args.q_weight);
  params.side[1].weight = VectorOperand(args.k_weight);
  if (args.table.has_value()) AddTable(*args.table, params);
  params.statistic = Statistic::kMeanSquare;
  params.eps = static_cast<float>(args.eps);
  return Launch(QkNormRopeCpuVariants(), params, checks, run);
}

}  // namespace reel::kernels
