// SPDX-License-Identifier: Apache-2.0
// A fused operator as a function with named operands in a fixed order: what torch's schemas, and
// whoever calls by one, derive from its description.
#pragma once

#include <string>
#include <vector>

#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

enum class FusedShape {
  kRows,      // of x
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

// Those behind x, in order.
std::vector<FusedOperand> FusedInputs(const FusedOp& op);
// The norm, if there is one, then the sum. The scales of a norm in codes come behind them:
// out_scale.
std::vector<FusedOperand> FusedOutputs(const FusedOp& op);

// As torch has schemas: "Tensor(a!) out, Tensor(b!) sum", "(Tensor, Tensor)", "Tensor x, Tensor? y,
// *, float eps=1e-6".
struct FusedSchema {
  std::string outputs;
  std::string returns;
  std::string arguments;
};
// `codes`: kE4m3 or kInt8 where the norm is written so, or 0.
FusedSchema SchemaOf(const FusedOp& op, unsigned codes);

}  // namespace reel::kernels
