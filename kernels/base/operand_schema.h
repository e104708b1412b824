// SPDX-License-Identifier: Apache-2.0
// Torch's schema of an operator, in torch's language, from the names of its operands (operands.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/base/operands.h"

namespace reel::kernels {

// "Tensor(a!) out, Tensor(b!)? scale", "(Tensor, Tensor)", "Tensor x, *, float eps=1e-06".
struct OperandSchema {
  std::string outputs;
  std::string returns;
  std::string arguments;
};

// Writes a schema operand by operand.
class SchemaWriter {
 public:
  explicit SchemaWriter(OperandForm form) : form_(form) {}

  // `usual`: what the operand is where a call does not say it.
  template <typename Value>
  void Add(const Operand& operand, const Value& usual) {
    if (!operand.IsListedIn(form_)) return;
    if constexpr (std::is_same_v<Value, TensorView>) {
      AddTensor(operand, /*may_be_absent=*/false);
    } else if constexpr (std::is_same_v<Value, std::optional<TensorView>>) {
      // The operand that a form is named after is never absent.
      AddTensor(operand, operand.of != OperandForm::kSum);
    } else if constexpr (std::is_enum_v<Value>) {
      AddOption("str", operand.name, Quoted(KindName(usual)));
    } else if constexpr (std::is_same_v<Value, int64_t>) {
      AddOption(operand.role == OperandRole::kSize ? "SymInt" : "int", operand.name, Text(usual));
    } else {
      AddOption(TypeOf(usual), operand.name, Text(usual));
    }
  }

  OperandSchema Finish() const;

 private:
  static const char* TypeOf(bool) { return "bool"; }
  static const char* TypeOf(double) { return "float"; }
  static const char* TypeOf(const std::optional<double>&) { return "float?"; }
  static const char* TypeOf(const std::optional<int64_t>&) { return "int?"; }
  static std::string Text(bool value) { return value ? "True" : "False"; }
  static std::string Text(int64_t value) { return std::to_string(value); }
  static std::string Text(double value);
  template <typename Value>
  static std::string Text(const std::optional<Value>& value) {
    return value.has_value() ? Text(*value) : "None";
  }
  static std::string Quoted(const char* name);

  void AddTensor(const Operand& operand, bool may_be_absent);
  void AddOption(const char* type, const char* name, const std::string& usual);

  const OperandForm form_;
  std::vector<std::string> outputs_, arguments_;
  bool has_options_ = false;
};

template <template <typename> class Operands>
OperandSchema SchemaOf(OperandForm form) {
  SchemaWriter writer(form);
  const Operands<Views> usual{};
  Operands<Views>::EachOperand(
      [&](const Operand& operand, const auto& value) { writer.Add(operand, value); }, usual);
  return writer.Finish();
}

}  // namespace reel::kernels
