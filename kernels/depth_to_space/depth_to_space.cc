// SPDX-License-Identifier: Apache-2.0
#include "kernels/depth_to_space/depth_to_space.h"

#include "kernels/base/status_macros.h"
#include "kernels/depth_to_space/depth_to_space_launch.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<DepthToSpaceLoops>("loops")};

void Check(const DepthToSpaceArgs& args, ArgumentChecks& checks) {
  const TensorView& x = args.x;
  checks.Floating("x", x, 5, 5);
  checks.Floating("out", args.out, 5, 5);
  checks.Require(!checks.ok() || x.size(4) % 8 == 0, "The channels of x must be a multiple of 8");
  if (!checks.ok()) return;
  const int64_t dropped = args.drop_first && x.size(1) > 0 ? 1 : 0;
  checks.Sizes("out", args.out,
               {x.size(0), 2 * x.size(1) - dropped, 2 * x.size(2), 2 * x.size(3), x.size(4) / 8});
  checks.Require(args.out.dtype == x.dtype, "The dtypes of x and out must be equal");
  if (args.bias.has_value()) {
    checks.Floating("bias", *args.bias);
    checks.Sizes("bias", *args.bias, {x.size(4)});
    checks.Require(args.bias->dtype == x.dtype, "The dtypes of x and bias must be equal");
  }
  if (args.residual.has_value()) {
    const TensorView& residual = *args.residual;
    checks.Floating("residual", residual, 5, 5);
    if (!checks.ok()) return;
    const int64_t channels = residual.size(4);
    checks.Sizes("residual", residual, {x.size(0), x.size(1), x.size(2), x.size(3), channels});
    checks.Require(channels > 0 && channels % 8 == 0 && x.size(4) % channels == 0,
                   "The channels of the residual must be a multiple of 8 that divides those of x");
    checks.Require(residual.dtype == x.dtype, "The dtypes of x and residual must be equal");
  }
  checks.Output("out", args.out);
}

FramesOperand OperandOf(const TensorView& view) {
  FramesOperand operand{.data = view.data, .strides = {}};
  for (int d = 0; d < 5; ++d) operand.strides[d] = view.stride(d);
  return operand;
}

DepthToSpaceParams ParamsOf(const DepthToSpaceArgs& args) {
  DepthToSpaceParams params;
  params.dtype = args.x.dtype;
  for (int d = 0; d < 4; ++d) params.sizes[d] = args.x.size(d);
  params.channels = args.x.size(4) / 8;
  params.dropped = args.drop_first ? 1 : 0;
  params.x = OperandOf(args.x);
  params.out = OperandOf(args.out);
  if (args.residual.has_value()) {
    params.residual = OperandOf(*args.residual);
    params.residual_channels = args.residual->size(4) / 8;
  }
  if (args.bias.has_value()) {
    params.bias = args.bias->data;
    params.bias_stride = args.bias->stride(0);
  }
  return params;
}

}  // namespace

OpVariants DepthToSpaceCpuVariants() {
  return MakeVariants<DepthToSpaceParams>("depth_to_space", kCpuVariants);
}

absl::Status DepthToSpace(const DepthToSpaceArgs& args, const Execution& run) {
  ArgumentChecks checks("depth_to_space", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const DepthToSpaceParams params = ParamsOf(args);
  return RunOp({.cpu_variants = DepthToSpaceCpuVariants(),
                .dtype = params.dtype,
                .params = &params,
                .empty = args.x.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
