// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

absl::Status RunQuantizeRows(const TorchCall& call, const Execution& run) {
  return QuantizeRows({.x = call.View("x"),
                       .out = call.View("out"),
                       .scale = call.OptionalView("scale"),
                       .static_scale = call.OptionalView("static_scale")},
                      run);
}

// Bytes like x, and a scale for each row unless all share one.
TorchOutputs QuantizedRows(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  const auto sizes = x.sym_sizes();
  TORCH_CHECK_VALUE(!sizes.empty(), "quantize_rows: x has at least one dimension");
  TorchOutputs outputs = {at::empty_symint(sizes, x.options().dtype(at::kFloat8_e4m3fn)),
                          at::Tensor()};
  if (!call.Has("static_scale")) {
    outputs[1] = at::empty_symint(sizes.slice(0, sizes.size() - 1), x.options().dtype(at::kFloat));
  }
  return outputs;
}

}  // namespace

std::vector<TorchOperator> QuantizeOperators() {
  return {
      {"quantize_rows", "quantize_rows", "Tensor(a!) out, Tensor(b!)? scale", "(Tensor, Tensor)",
       "Tensor x, Tensor? static_scale=None, *", QuantizedRows, RunQuantizeRows},
  };
}

}  // namespace reel::kernels
