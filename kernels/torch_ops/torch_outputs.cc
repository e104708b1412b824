// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

// Codes like `x`, and a scale for each row or an undefined tensor.
TorchOutputs CodesLikeX(const TorchCall& call, at::ScalarType type, const char* name,
                        bool with_scales) {
  const at::Tensor x = call.Tensor("x");
  const auto sizes = x.sym_sizes();
  TORCH_CHECK_VALUE(!sizes.empty(), "x must have at least one dimension to become ", name);
  TorchOutputs outputs = {at::empty_symint(sizes, x.options().dtype(type)), at::Tensor()};
  if (with_scales) {
    outputs[1] = at::empty_symint(sizes.slice(0, sizes.size() - 1), x.options().dtype(at::kFloat));
  }
  return outputs;
}

}  // namespace

at::Tensor EmptyBeside(const at::Tensor& x, c10::SymIntArrayRef sizes) {
  return at::empty_symint(sizes, x.options());
}

TorchOutputs LikeX(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  return {EmptyBeside(x, x.sym_sizes())};
}

TorchOutputs LikeXTwice(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  return {EmptyBeside(x, x.sym_sizes()), EmptyBeside(x, x.sym_sizes())};
}

TorchOutputs CodesOfX(const TorchCall& call) {
  return CodesLikeX(call, at::kFloat8_e4m3fn, "e4m3", !call.Has("static_out_scale"));
}

TorchOutputs QuantizedX(const TorchCall& call) {
  return CodesLikeX(call, at::kFloat8_e4m3fn, "e4m3", !call.Has("static_scale"));
}

TorchOutputs TurnedX(const TorchCall& call) { return CodesLikeX(call, at::kChar, "int8", true); }

TorchOutputs HalfOfX(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  if (!call.Has("value") && !sizes.empty()) sizes.back() = sizes.back() / 2;
  return {EmptyBeside(x, sizes)};
}

TorchOutputs PaddedX(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  TORCH_CHECK_VALUE(sizes.size() == 5, "channel_norm_silu: x is [B,F,H,W,C], not of rank ",
                    sizes.size());
  sizes[1] = sizes[1] + call.Size("pad_front") + call.Size("pad_back");
  return {EmptyBeside(x, sizes)};
}

TorchOutputs PaddedXAndSum(const TorchCall& call) {
  return {PaddedX(call).front(), LikeX(call).front()};
}

TorchOutputs DoubledX(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  auto sizes = x.sym_sizes().vec();
  TORCH_CHECK_VALUE(sizes.size() == 5, "depth_to_space: x is [B,F,H,W,8C], not of rank ",
                    sizes.size());
  for (size_t d = 1; d < 4; ++d) sizes[d] = sizes[d] * 2;
  if (call.Flag("drop_first")) sizes[1] = sizes[1] - 1;
  sizes[4] = sizes[4] / 8;
  return {EmptyBeside(x, sizes)};
}

TorchOutputs LikeQ(const TorchCall& call) {
  const at::Tensor q = call.Tensor("q");
  return {EmptyBeside(q, q.sym_sizes())};
}

TorchOutputs LikeQk(const TorchCall& call) {
  const at::Tensor q = call.Tensor("q");
  TorchOutputs outputs = {EmptyBeside(q, q.sym_sizes()), at::Tensor()};
  if (call.Has("k")) {
    const at::Tensor k = call.Tensor("k");
    outputs[1] = EmptyBeside(k, k.sym_sizes());
  }
  return outputs;
}

}  // namespace reel::kernels
