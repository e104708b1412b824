// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "kernels/int8_rows/int8_rows.h"
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

TorchOutputs QuantizedRows(const TorchCall& call) { return QuantizedX(call, "static_scale"); }

absl::Status RunInt8Rows(const TorchCall& call, const Execution& run) {
  return Int8Rows({.x = call.View("x"),
                   .out = call.View("out"),
                   .scale = call.View("scale"),
                   .gelu = call.Flag("gelu")},
                  run);
}

TorchOutputs Int8RowsOfX(const TorchCall& call) {
  const at::Tensor x = call.Tensor("x");
  const auto sizes = x.sym_sizes();
  TORCH_CHECK_VALUE(!sizes.empty(), "x must have at least one dimension to become int8");
  return {at::empty_symint(sizes, x.options().dtype(at::kChar)),
          at::empty_symint(sizes.slice(0, sizes.size() - 1), x.options().dtype(at::kFloat))};
}

}  // namespace

std::vector<TorchOperator> QuantizeOperators() {
  return {
      {"quantize_rows", "quantize_rows", "Tensor(a!) out, Tensor(b!)? scale", "(Tensor, Tensor)",
       "Tensor x, Tensor? static_scale=None, *", QuantizedRows, RunQuantizeRows},
      {"int8_rows", "int8_rows", "Tensor(a!) out, Tensor(b!) scale", "(Tensor, Tensor)",
       "Tensor x, *, bool gelu=False", Int8RowsOfX, RunInt8Rows},
  };
}

}  // namespace reel::kernels
