// SPDX-License-Identifier: Apache-2.0
#include "kernels/rope/rope.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/rope/rope_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<RopeLoops>("loops")};

template <typename Args>
void CheckOperands(const Args& args, ArgumentChecks& checks) {
  checks.Floating("q", args.q, 4, 4);
  checks.Like("q_out", args.q_out, "q", args.q);
  checks.Require(args.k.has_value() == args.k_out.has_value(),
                 "k and k_out must both be given or neither");
  if (!checks.ok() || !args.k.has_value()) return;
  checks.Floating("k", *args.k, 4, 4);
  checks.Like("k_out", *args.k_out, "k", *args.k);
  checks.Require(args.k->dtype == args.q.dtype && args.k->sizes[0] == args.q.sizes[0] &&
                     args.k->sizes[3] == args.q.sizes[3],
                 "Batch, head width and dtype of q and k must be equal");
}

template <typename Args>
void CheckOutputs(const Args& args, ArgumentChecks& checks) {
  checks.Output("q_out", args.q_out, {&args.q});
  if (args.k.has_value()) checks.Output("k_out", *args.k_out, {&*args.k});
}

void CheckPositions(const char* name, const std::optional<TensorView>& positions,
                    const TensorView& x, ArgumentChecks& checks) {
  if (!positions.has_value()) return;
  checks.Typed(name, *positions, MaskOf(Dtype::kI32) | MaskOf(Dtype::kI64), 1, 2);
  checks.Require(
      positions->size(-1) == x.size(1) && (positions->rank == 1 || positions->size(0) == x.size(0)),
      "Positions must be [S] or [B,S]");
}

void CheckTheta(double theta, ArgumentChecks& checks) {
  checks.Require(std::isfinite(theta) && theta > 0,
                 checks.ok() ? absl::StrCat("theta must be above zero: ", theta) : "");
}

void CheckNorm(const Rope1dArgs& args, ArgumentChecks& checks) {
  checks.Channels("q_weight", args.q_weight, args.q);
  if (args.k_weight.has_value()) {
    checks.Require(args.k.has_value(), "k_weight belongs to a k");
    if (checks.ok()) checks.Channels("k_weight", args.k_weight, *args.k);
  }
  checks.Require(
      args.norm_eps.has_value() || !(args.q_weight.has_value() || args.k_weight.has_value()),
      "The weights are those of the norm, which needs norm_eps");
  checks.Epsilon(args.norm_eps.value_or(0));
}

RopeOperand OperandOf(const TensorView& in, const TensorView& out,
                      const std::optional<TensorView>& positions) {
  RopeOperand operand;
  operand.in = in.data;
  operand.out = out.data;
  operand.tokens = in.size(1);
  operand.heads = in.size(2);
  for (int d = 0; d < 4; ++d) {
    operand.in_strides[d] = in.stride(d);
    operand.out_strides[d] = out.stride(d);
  }
  if (positions.has_value()) {
    operand.positions = positions->data;
    operand.wide_positions = positions->dtype == Dtype::kI64;
    operand.position_strides[0] = positions->rank == 2 ? positions->stride(0) : 0;
    operand.position_strides[1] = positions->stride(-1);
  }
  return operand;
}

RopeParams ParamsOf(const TensorView& q) {
  RopeParams params;
  params.dtype = q.dtype;
  params.batch = q.size(0);
  params.head_width = q.size(3);
  return params;
}

absl::Status Launch(const OpVariants& rows, const RopeParams& params, const ArgumentChecks& checks,
                    const Execution& run) {
  int64_t elements = 0;
  for (const RopeOperand& operand : params.operands) elements += operand.tokens * operand.heads;
  return RunOp({.cpu_variants = rows,
                .dtype = params.dtype,
                .params = &params,
                .empty = elements * params.batch * params.head_width == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

std::array<int64_t, 3> DefaultSplit(int64_t head_width) {
  const int64_t third = head_width / 2 / 3 * 2;
  return {third, third, head_width - 2 * third};
}

}  // namespace

OpVariants Rope1dCpuVariants() { return MakeVariants<RopeParams>("rope_1d", kCpuVariants); }
OpVariants Rope3dCpuVariants() { return MakeVariants<RopeParams>("rope_3d", kCpuVariants); }

absl::Status Rope1d(const Rope1dArgs& args, const Execution& run) {
  ArgumentChecks checks("rope_1d", run.stream);
  CheckOperands(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const int64_t rotary = args.rotary_dim.value_or(args.q.size(3));
  checks.Require(rotary >= 0 && rotary % 2 == 0 && rotary <= args.q.size(3),
                 absl::StrCat("rotary_dim must be even and at most the head width: ", rotary,
                              " beside ", args.q.size(3)));
  CheckTheta(args.theta, checks);
  CheckPositions("positions", args.positions, args.q, checks);
  if (args.k.has_value()) {
    CheckPositions("k_positions", args.k_positions, *args.k, checks);
    checks.Require(args.k_positions.has_value() || args.k->size(1) == args.q.size(1),
                   "k of another length needs positions of its own");
  }
  CheckNorm(args, checks);
  CheckOutputs(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  RopeParams params = ParamsOf(args.q);
  params.operands[0] = OperandOf(args.q, args.q_out, args.positions);
  if (args.k.has_value()) {
    params.operands[1] = OperandOf(
        *args.k, *args.k_out, args.k_positions.has_value() ? args.k_positions : args.positions);
  }
  params.operands[0].weight = VectorOperand(args.q_weight);
  params.operands[1].weight = VectorOperand(args.k_weight);
  params.normed = args.norm_eps.has_value();
  params.eps = static_cast<float>(args.norm_eps.value_or(0));
  params.sections[0] = {.begin = 0, .pairs = rotary / 2, .theta = args.theta};
  params.offset = args.offset;
  params.interleaved = args.interleaved;
  params.rotated = rotary;
  return Launch(Rope1dCpuVariants(), params, checks, run);
}

absl::Status Rope3d(const Rope3dArgs& args, const Execution& run) {
  ArgumentChecks checks("rope_3d", run.stream);
  CheckOperands(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const auto in_grid = [&](const TensorView& x) {
    return args.frames >= 0 && args.height >= 0 && args.width >= 0 &&
           x.size(1) == args.frames * args.height * args.width;
  };
  checks.Require(
      in_grid(args.q) && (!args.k.has_value() || in_grid(*args.k)),
      absl::StrCat("The grid must have as many places as there are tokens: ", args.frames, " x ",
                   args.height, " x ", args.width, ", tokens ", args.q.size(1)));
  const auto split = args.split.value_or(DefaultSplit(args.q.size(3)));
  bool legal = split[0] + split[1] + split[2] == args.q.size(3);
  for (const int64_t width : split) legal = legal && width >= 0 && width % 2 == 0;
  checks.Require(
      legal, absl::StrCat("The split must be even widths that sum to the head width: ", split[0],
                          ", ", split[1], ", ", split[2], " beside ", args.q.size(3)));
  for (const double theta : args.theta) CheckTheta(theta, checks);
  CheckOutputs(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  RopeParams params = ParamsOf(args.q);
  params.operands[0] = OperandOf(args.q, args.q_out, std::nullopt);
  if (args.k.has_value()) params.operands[1] = OperandOf(*args.k, *args.k_out, std::nullopt);
  int64_t begin = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    params.sections[axis] = {.begin = begin, .pairs = split[axis] / 2, .theta = args.theta[axis]};
    begin += split[axis];
  }
  params.grid = true;
  params.height = args.height;
  params.width = args.width;
  params.rotated = begin;
  return Launch(Rope3dCpuVariants(), params, checks, run);
}

}  // namespace reel::kernels
