// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/conv3d.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "kernels/base/status_macros.h"
#include "kernels/conv3d/conv3d.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

std::array<int64_t, 3> SidesOf(const TorchCall& call, const char* name) {
  const std::vector<int64_t> given = call.Integers(name);
  TORCH_CHECK_VALUE(given.size() == 3, "conv3d: ", name,
                    " has one value for each of frames, rows, columns");
  return {given[0], given[1], given[2]};
}

Conv3dArgs ArgsOf(const TorchCall& call) {
  return {.x = call.View("x"),
          .weight = call.View("weight"),
          .bias = call.OptionalView("bias"),
          .out = call.View("out"),
          .stride = SidesOf(call, "stride"),
          .padding = SidesOf(call, "padding")};
}

absl::Status RunConv3d(const TorchCall& call, const Execution& run) {
  return Conv3d(ArgsOf(call), run);
}

std::string_view TakesAll(const TorchCall&) { return ""; }

absl::Status RunAtenConv3d(const TorchCall& call, DeviceStream stream) {
  const Conv3dArgs args = ArgsOf(call);
  REEL_RETURN_IF_ERROR(CheckConv3d(args, stream));
  const at::Tensor x = call.Tensor("x");
  at::Tensor out = call.Tensor("out");
  if (out.numel() == 0) return absl::OkStatus();
  std::optional<at::Tensor> bias;
  if (call.Has("bias")) bias = call.Tensor("bias").to(x.scalar_type());
  out.copy_(at::conv3d(x, call.Tensor("weight"), bias, args.stride, args.padding));
  return absl::OkStatus();
}

constexpr AtenForm kAtenConv3d = {TakesAll, RunAtenConv3d};

TorchOutputs Convolved(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x"), weight = call.Tensor("weight");
  TORCH_CHECK_VALUE(x.dim() == 5 && weight.dim() == 5,
                    "conv3d: x is [B,C,F,H,W] and weight [O,C,i,j,k]");
  const auto stride = SidesOf(call, "stride"), padding = SidesOf(call, "padding");
  TORCH_CHECK_VALUE(*std::min_element(stride.begin(), stride.end()) > 0,
                    "conv3d: a stride must be at least 1");
  std::vector<c10::SymInt> sizes = {x.sym_size(0), weight.sym_size(0)};
  for (size_t d = 0; d < 3; ++d) {
    const auto side = static_cast<int64_t>(d) + 2;
    const c10::SymInt room = x.sym_size(side) + 2 * padding[d] - weight.sym_size(side);
    TORCH_CHECK_VALUE(room >= 0, "conv3d: the kernel is larger than x with its padding");
    sizes.push_back(room / stride[d] + 1);
  }
  return {EmptyBeside(x, sizes)};
}

}  // namespace

std::vector<TorchOperator> ConvolutionOperators() {
  return {{"conv3d", "conv3d", "Tensor(a!) out", "Tensor",
           "Tensor x, Tensor weight, Tensor? bias=None, *, int[3] stride=[1, 1, 1], "
           "int[3] padding=[0, 0, 0]",
           Convolved, RunConv3d, &kAtenConv3d}};
}

}  // namespace reel::kernels
