// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_schema.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace reel::kernels {
namespace {

using Args = FusedArgs;
using Params = FusedNormParams;

}  // namespace

std::vector<FusedOperand> FusedInputs(const FusedOp& op) {
  std::vector<FusedOperand> inputs;
  const auto add = [&](bool there, FusedOperand operand) {
    if (there) inputs.push_back(operand);
  };
  const auto channels = [&](bool there, const char* name,
                            std::optional<TensorView> Args::* argument,
                            RowOperand Params::* parameter) {
    add(there, {name, argument, parameter, FusedShape::kChannels, true});
  };
  const bool gated = op.has(kResidualGate);
  const bool modulated = op.has(kModulation);
  add(op.has(kResidual),
      {gated ? "y" : "residual", &Args::residual, &Params::residual, FusedShape::kRows, false});
  add(gated, {"gate", &Args::residual_gate, &Params::residual_gate, FusedShape::kVectors, true});
  channels(op.has(kAffine), "weight", &Args::weight, &Params::weight);
  channels(op.bias, "bias", &Args::bias, &Params::bias);
  add(modulated, {"scale", &Args::scale, &Params::scale, FusedShape::kVectors, false});
  add(modulated, {"shift", &Args::shift, &Params::shift, FusedShape::kVectors, false});
  add(op.has(kOutputGate), {"gate", &Args::gate, &Params::gate, FusedShape::kVectors, false});
  channels(gated, "gate_bias", &Args::residual_gate_bias, &Params::residual_gate_bias);
  channels(modulated, "scale_bias", &Args::scale_bias, &Params::scale_bias);
  channels(modulated, "shift_bias", &Args::shift_bias, &Params::shift_bias);
  channels(op.has(kOutputGate), "gate_bias", &Args::gate_bias, &Params::gate_bias);
  return inputs;
}

std::vector<FusedOperand> FusedOutputs(const FusedOp& op) {
  std::vector<FusedOperand> outputs;
  if (op.has(kNormed)) {
    outputs.push_back({"out", &Args::out, &Params::out, FusedShape::kRows, false});
  }
  if (op.has(kSum)) {
    outputs.push_back(
        {outputs.empty() ? "out" : "sum", &Args::sum, &Params::sum, FusedShape::kRows, false});
  }
  return outputs;
}

OperandSchema SchemaOf(const FusedOp& op, unsigned codes) {
  std::vector<std::string> outputs;
  for (const FusedOperand& output : FusedOutputs(op)) {
    outputs.push_back(absl::StrCat("Tensor(", outputs.empty() ? "a" : "b", "!) ", output.name));
  }
  if (codes != 0) {
    outputs.push_back(absl::StrCat("Tensor(", outputs.size() == 1 ? "b" : "c",
                                   codes == kE4m3 ? "!)? out_scale" : "!) out_scale"));
  }
  const std::vector<std::string> returns(outputs.size(), "Tensor");
  const std::vector<FusedOperand> inputs = FusedInputs(op);
  // Only operands after the last required one may be omitted.
  const auto required = std::find_if(inputs.rbegin(), inputs.rend(),
                                     [](const FusedOperand& input) { return !input.optional; });
  std::vector<std::string> arguments = {"Tensor x"};
  for (auto input = inputs.begin(); input != inputs.end(); ++input) {
    arguments.push_back(absl::StrCat(input->optional ? "Tensor? " : "Tensor ", input->name,
                                     input >= required.base() ? "=None" : ""));
  }
  arguments.push_back("*");
  if (op.statistic != Statistic::kNone) arguments.push_back(absl::StrCat("float eps=", op.eps));
  if (codes == kE4m3) arguments.push_back("float? static_out_scale=None");
  return {.outputs = absl::StrJoin(outputs, ", "),
          .returns =
              outputs.size() == 1 ? "Tensor" : absl::StrCat("(", absl::StrJoin(returns, ", "), ")"),
          .arguments = absl::StrJoin(arguments, ", ")};
}

}  // namespace reel::kernels
