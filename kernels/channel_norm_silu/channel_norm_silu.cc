// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_norm_silu/channel_norm_silu.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/channel_norm_silu/channel_norm_silu_launch.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {
    CpuVariant<ChannelNormSiluCpu>("cpu"),
    CpuVariant<ChannelNormSiluLoops>("loops"),
};

void CheckVector(const char* name, const std::optional<TensorView>& vector, const TensorView& x,
                 ArgumentChecks& checks) {
  if (!vector.has_value()) return;
  checks.Floating(name, *vector);
  if (checks.ok()) checks.Sizes(name, *vector, {x.size(0), x.size(4)});
  checks.VectorDtype(name, *vector, x);
}

void Check(const ChannelNormSiluArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 5, 5);
  checks.Floating("out", args.out, 5, 5);
  checks.Require(args.pad_front >= 0 && args.pad_back >= 0, "Padding must not be negative");
  if (!checks.ok()) return;
  checks.Sizes("out", args.out,
               {args.x.size(0), args.pad_front + args.x.size(1) + args.pad_back, args.x.size(2),
                args.x.size(3), args.x.size(4)});
  checks.Require(args.out.dtype == args.x.dtype, "The dtypes of x and out must be equal");
  checks.Require(args.x.size(1) > 0 || args.pad_front + args.pad_back == 0,
                 "There is no frame to pad with");
  checks.Require(args.scale.has_value() == args.shift.has_value(),
                 "Scale and shift must both be given or neither");
  if (args.residual.has_value()) checks.Like("residual", *args.residual, "x", args.x);
  checks.Channels("bias", args.bias, args.x);
  if (args.sum.has_value()) checks.Like("sum", *args.sum, "x", args.x);
  CheckVector("scale", args.scale, args.x, checks);
  CheckVector("shift", args.shift, args.x, checks);
  checks.Epsilon(args.eps);
  checks.Output("out", args.out);
  if (args.sum.has_value()) checks.Output("sum", *args.sum);
}

// Addresses a vector [B,C] for the pixels of its batch.
RowOperand OverPixels(const std::optional<TensorView>& vector) {
  if (!vector.has_value()) return {};
  RowOperand operand{
      .data = vector->data, .dtype = vector->dtype, .inner = vector->stride(1), .strides = {}};
  operand.strides[0] = vector->stride(0);
  return operand;
}

// Absent: null data.
RowOperand OptionalRows(const std::optional<TensorView>& view) {
  return view.has_value() ? RowsOperand(*view) : RowOperand{};
}

ChannelNormSiluParams ParamsOf(const ChannelNormSiluArgs& args) {
  ChannelNormSiluParams params;
  params.shape = RowsOf(args.x);
  params.x = RowsOperand(args.x);
  params.out = RowsOperand(Slice(args.out, 1, args.pad_front, args.x.size(1)));
  params.residual = OptionalRows(args.residual);
  params.bias = VectorOperand(args.bias);
  params.sum = OptionalRows(args.sum);
  params.scale = OverPixels(args.scale);
  params.shift = OverPixels(args.shift);
  params.frames = args.x.size(1);
  params.frame_rows = args.x.size(2) * args.x.size(3);
  params.out_frame_stride = args.out.stride(1);
  params.pad_front = args.pad_front;
  params.pad_back = args.pad_back;
  params.silu = args.silu;
  params.eps = static_cast<float>(args.eps);
  MergeRowDims(params.shape, {&params.x, &params.out, &params.residual, &params.sum, &params.scale,
                              &params.shift});
  return params;
}

}  // namespace

OpVariants ChannelNormSiluCpuVariants() {
  return MakeVariants<ChannelNormSiluParams>("channel_norm_silu", kCpuVariants);
}

absl::Status ChannelNormSilu(const ChannelNormSiluArgs& args, const Execution& run) {
  ArgumentChecks checks("channel_norm_silu", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const ChannelNormSiluParams params = ParamsOf(args);
  return RunOp({.cpu_variants = ChannelNormSiluCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.x.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
