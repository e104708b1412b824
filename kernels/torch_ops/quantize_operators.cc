// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

std::vector<TorchOperator> QuantizeOperators() {
  return {
      {"quantize_rows", "quantize_rows", "Tensor(a!) out, Tensor(b!)? scale", "(Tensor, Tensor)",
       "Tensor x, Tensor? static_scale=None, *", QuantizedRows, RunQuantizeRows},
      {"int8_rows", "int8_rows", "Tensor(a!) out, Tensor(b!) scale", "(Tensor, Tensor)",
       "Tensor x, *, bool gelu=False", TurnedX, RunInt8Rows},
  };
}

}  // namespace reel::kernels
