// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {

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
