// SPDX-License-Identifier: Apache-2.0
// Describes a fused operator as a function with named operands in a fixed order, from which torch's
// schemas and other callers derive theirs.
#pragma once

#include <vector>

#include "kernels/base/operand_schema.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

enum class FusedShape {
  kRows,      // like x
  kVectors,   // [D] to [B,S,D]
  kChannels,  // [D]
};

struct FusedOperand {
  const char* name;  // in the schema
  std::optional<TensorView> FusedArgs::* argument;
  RowOperand FusedNormParams::* parameter;
  FusedShape shape;
  bool optional;
};

// The operands after x, in order.
std::vector<FusedOperand> FusedInputs(const FusedOp& op);
// The norm, if any, then the sum. A norm in codes adds out_scale after them.
std::vector<FusedOperand> FusedOutputs(const FusedOp& op);

// `codes`: kE4m3 or kInt8 for a norm in codes, or 0.
OperandSchema SchemaOf(const FusedOp& op, unsigned codes);

}  // namespace reel::kernels
