// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv3d/conv3d.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/conv3d/conv3d_launch.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<Conv3dLoops>("loops")};

// Whether the sizes of `out` follow from x, the kernel, stride and padding.
bool SidesFit(const Conv3dArgs& args) {
  for (int d = 0; d < 3; ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t room = args.x.size(2 + d) + 2 * args.padding[i] - args.weight.size(2 + d);
    if (room < 0 || args.out.size(2 + d) != room / args.stride[i] + 1) return false;
  }
  return true;
}

void Check(const Conv3dArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 5, 5);
  checks.Floating("weight", args.weight, 5, 5);
  if (args.bias.has_value()) checks.Floating("bias", *args.bias, 1, 1);
  checks.Floating("out", args.out, 5, 5);
  if (!checks.ok()) return;
  checks.Require(args.weight.dtype == args.x.dtype && args.out.dtype == args.x.dtype,
                 absl::StrCat("The dtypes must be equal: ", checks.Shapes()));
  checks.Require(args.weight.size(1) == args.x.size(1),
                 absl::StrCat("The channels must be equal: ", checks.Shapes()));
  checks.Require(*std::min_element(args.stride.begin(), args.stride.end()) > 0,
                 "A stride must be at least 1");
  checks.Require(*std::min_element(args.padding.begin(), args.padding.end()) >= 0,
                 "A padding must not be negative");
  if (!checks.ok()) return;
  checks.Require(args.out.size(0) == args.x.size(0) && args.out.size(1) == args.weight.size(0) &&
                     SidesFit(args),
                 absl::StrCat("The sizes do not fit: ", checks.Shapes()));
  if (args.bias.has_value()) {
    if (checks.ok()) checks.Sizes("bias", *args.bias, {args.weight.size(0)});
    checks.VectorDtype("bias", *args.bias, args.x);
  }
  checks.Output("out", args.out);
}

VolumeOperand OperandOf(const TensorView& view) {
  VolumeOperand operand{.data = view.data, .dtype = view.dtype};
  std::copy_n(view.sizes.begin(), 5, operand.sizes);
  std::copy_n(view.strides.begin(), 5, operand.strides);
  return operand;
}

}  // namespace

OpVariants Conv3dCpuVariants() { return MakeVariants<Conv3dParams>("conv3d", kCpuVariants); }

absl::Status CheckConv3d(const Conv3dArgs& args, DeviceStream stream) {
  ArgumentChecks checks("conv3d", stream);
  Check(args, checks);
  return checks.status();
}

absl::Status Conv3d(const Conv3dArgs& args, const Execution& run) {
  ArgumentChecks checks("conv3d", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  Conv3dParams params{
      .x = OperandOf(args.x), .weight = OperandOf(args.weight), .out = OperandOf(args.out)};
  if (args.bias.has_value()) {
    params.bias = args.bias->data;
    params.bias_dtype = args.bias->dtype;
    params.bias_stride = args.bias->strides[0];
  }
  std::copy(args.stride.begin(), args.stride.end(), params.stride);
  std::copy(args.padding.begin(), args.padding.end(), params.padding);
  return RunOp({.cpu_variants = Conv3dCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.out.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
