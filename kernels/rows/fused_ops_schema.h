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
// The norm, if there is one, then the sum. An e4m3 norm's scales come behind them: out_scale.
std::vector<FusedOperand> FusedOutputs(const FusedOp& op);

// As torch has schemas: "Tensor(a!) out, Tensor(b!) sum", "(Tensor, Tensor)", "Tensor x, Tensor? y,
// *, float eps=1e-6".
struct FusedSchema {
  std::string outputs;
  std::string returns;
  std::string arguments;
};
FusedSchema SchemaOf(const FusedOp& op, bool e4m3);

}  // namespace reel::kernels
