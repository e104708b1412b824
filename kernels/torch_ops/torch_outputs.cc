// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

// Codes like `x`, and a scale for each row or an undefined tensor.
TorchOutputs CodesOfX(const TorchCall& call, at::ScalarType type, const char* name,
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

TorchOutputs QuantizedX(const TorchCall& call, const char* given) {
  return CodesOfX(call, at::kFloat8_e4m3fn, "e4m3", !call.Has(given));
}

TorchOutputs TurnedX(const TorchCall& call) { return CodesOfX(call, at::kChar, "int8", true); }

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
