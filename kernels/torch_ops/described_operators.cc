// SPDX-License-Identifier: Apache-2.0
// The entries that follow from an operator's own list of its operands: rows REEL_TORCH_OPERATOR of
// operators.def.
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "kernels/base/operand_schema.h"
#include "kernels/base/status_macros.h"
#include "kernels/made/operator_headers.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

using enum OperandForm;

template <template <typename> class Operands, OperandForm kForm>
absl::StatusOr<Operands<Views>> OperandsOf(const TorchCall& call) {
  Operands<Views> operands{};
  absl::Status status;
  const auto read = [&]<typename Value>(const Operand& operand, Value& value) {
    if (!operand.IsListedIn(kForm)) return;
    if constexpr (std::is_enum_v<Value>) {
      status.Update(ReadKind(call.Text(operand.name), value));
    } else {
      call.Read(operand.name, value);
    }
  };
  Operands<Views>::EachOperand(read, operands);
  if (!status.ok()) return status;
  return operands;
}

template <template <typename> class Operands, auto kOperator, OperandForm kForm>
absl::Status Run(const TorchCall& call, const Execution& run) {
  REEL_ASSIGN_OR_RETURN(const auto operands, (OperandsOf<Operands, kForm>(call)));
  return kOperator(operands, run);
}

constexpr const char* SuffixOf(OperandForm form) {
  return form == kE4m3 ? "_e4m3" : form == kSum ? "_sum" : "";
}

template <template <typename> class Operands, auto kOperator, OperandForm kForm>
TorchOperator Described(const char* key, TorchOutputs (*allocate)(const TorchCall&)) {
  const OperandSchema schema = SchemaOf<Operands>(kForm);
  return {.name = absl::StrCat(key, SuffixOf(kForm)),
          .key = key,
          .outputs = schema.outputs,
          .returns = schema.returns,
          .arguments = schema.arguments,
          .allocate = allocate,
          .run = Run<Operands, kOperator, kForm>};
}

}  // namespace

std::vector<TorchOperator> DescribedOperators() {
  return {
#define REEL_TORCH_OPERATOR(op, function, operands, form, outputs) \
  Described<operands, &function, form>(#op, outputs),
#include "kernels/operators.def"
#undef REEL_TORCH_OPERATOR
  };
}

}  // namespace reel::kernels
