// SPDX-License-Identifier: Apache-2.0
// Registers the fused operators from their descriptions.
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/rows/fused_ops_schema.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

template <const FusedOp& kOp, unsigned kForm>
absl::Status Run(const TorchCall& call, const Execution& run) {
  static const std::vector<FusedOperand> inputs = FusedInputs(kOp);
  static const std::vector<FusedOperand> outputs = FusedOutputs(kOp);
  FusedArgs args = {.x = call.View("x")};
  for (const FusedOperand& input : inputs) {
    if (!input.optional || call.Has(input.name)) args.*input.argument = call.View(input.name);
  }
  for (const FusedOperand& output : outputs) {
    args.*output.argument = call.View(output.name);
  }
  if constexpr (kOp.statistic != Statistic::kNone) args.eps = call.Real("eps");
  if constexpr (kForm != 0) args.out_scale = call.OptionalView("out_scale");
  if constexpr (kForm == kE4m3) args.static_out_scale = call.OptionalReal("static_out_scale");
  return RunFused(kOp, args, run);
}

// For a norm in codes: the codes, the sum, the scales.
template <const FusedOp& kOp, unsigned kForm>
TorchOutputs Allocate(const TorchCall& call) {
  constexpr bool kBoth = kOp.has(kNormed) && kOp.has(kSum);
  if constexpr (kForm == 0) return kBoth ? LikeXTwice(call) : LikeX(call);
  TorchOutputs outputs = kForm == kInt8 ? TurnedX(call) : CodesOfX(call);
  if (kBoth) outputs.insert(outputs.begin() + 1, LikeX(call).front());
  return outputs;
}

template <const FusedOp& kOp, unsigned kForm>
TorchOperator Operator() {
  OperandSchema schema = SchemaOf(kOp, kForm);
  return {.name = absl::StrCat(kOp.name, kForm == kE4m3   ? "_e4m3"
                                         : kForm == kInt8 ? "_int8"
                                                          : ""),
          .key = kOp.name,
          .outputs = std::move(schema.outputs),
          .returns = std::move(schema.returns),
          .arguments = std::move(schema.arguments),
          .allocate = Allocate<kOp, kForm>,
          .run = Run<kOp, kForm>};
}

template <const FusedOp& kOp>
void AddForms(std::vector<TorchOperator>& operators) {
  operators.push_back(Operator<kOp, 0>());
  if constexpr (kOp.codes) {
    operators.push_back(Operator<kOp, kE4m3>());
    operators.push_back(Operator<kOp, kInt8>());
  }
}

template <size_t... kAt>
std::vector<TorchOperator> All(std::index_sequence<kAt...>) {
  std::vector<TorchOperator> operators;
  (AddForms<*kFusedOps[kAt]>(operators), ...);
  return operators;
}

}  // namespace

std::vector<TorchOperator> FusedOperators() {
  return All(std::make_index_sequence<std::size(kFusedOps)>());
}

}  // namespace reel::kernels
