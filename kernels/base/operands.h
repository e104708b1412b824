// SPDX-License-Identifier: Apache-2.0
// The operands of an operator, written down once. Its header has a struct of them, a template over
// the type of tensors: views where the operator computes, a framework's tensors where models call
// it. The struct's EachOperand names them in the order of torch's schema.
#pragma once

#include <optional>

#include "kernels/base/tensor_view.h"

namespace reel::kernels {

// The struct over these is what the operator takes.
struct Views {
  using In = TensorView;
  using MaybeIn = std::optional<TensorView>;
  using Out = TensorView;
  using MaybeOut = std::optional<TensorView>;
};

enum class OperandRole {
  kInput,
  kOutput,
  kOption,    // a number, a switch or a kind
  kSize,      // a number from which the sizes of outputs follow
  kUnlisted,  // no part of torch's schema
};

// Forms of an operator that have names and outputs of their own in torch.
enum class OperandForm {
  kPlain,
  kE4m3,  // writes codes: with their scales
  kSum,   // writes a sum too
};

struct Operand {
  const char* name;
  OperandRole role = OperandRole::kInput;
  OperandForm of = OperandForm::kPlain;  // kPlain: of every form

  constexpr bool IsListedIn(OperandForm form) const {
    return role != OperandRole::kUnlisted && (of == OperandForm::kPlain || of == form);
  }
};

constexpr Operand Output(const char* name, OperandForm form = OperandForm::kPlain) {
  return {name, OperandRole::kOutput, form};
}
constexpr Operand Option(const char* name, OperandForm form = OperandForm::kPlain) {
  return {name, OperandRole::kOption, form};
}
constexpr Operand Size(const char* name) { return {name, OperandRole::kSize}; }
constexpr Operand Unlisted(const char* name) { return {name, OperandRole::kUnlisted}; }

}  // namespace reel::kernels
