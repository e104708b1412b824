// SPDX-License-Identifier: Apache-2.0
// An entry of the table of torch.ops operators: its schema, outputs and call. Each entry becomes
// two operators, `name(...) -> outputs` and `name_out(outputs, ...) -> ()`.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "kernels/dispatch/execution.h"
#include "kernels/torch_ops/torch_call.h"

namespace reel::kernels {

// One to three tensors; undefined if an optional output is not requested.
using TorchOutputs = std::vector<at::Tensor>;

// libtorch's own implementation, for an operator whose GPU kernels are the vendor's: a variant
// "aten", before those of kernels/.
struct AtenForm {
  // Why it does not take a call; empty: it does.
  std::string_view (*why_not)(const TorchCall& call);
  // Refuses what the operator refuses.
  absl::Status (*run)(const TorchCall& call, DeviceStream stream);
};

struct TorchOperator {
  std::string name;       // in torch.ops
  const char* key;        // the kernel whose variants it runs
  std::string outputs;    // arguments of the mutating form, e.g. "Tensor(a!) out"
  std::string returns;    // of the functional form, e.g. "Tensor"
  std::string arguments;  // for both; a "*" is in it even without keywords: the variant is one
  // Allocates the outputs of the functional form: contiguous, uninitialised, of symbolic sizes.
  TorchOutputs (*allocate)(const TorchCall& call);
  absl::Status (*run)(const TorchCall& call, const Execution& run);
  const AtenForm* aten = nullptr;
};

std::vector<TorchOperator> DescribedOperators();
std::vector<TorchOperator> FusedOperators();
std::vector<TorchOperator> LinearOperators();
std::vector<TorchOperator> ConvolutionOperators();
std::vector<TorchOperator> RopeOperators();
std::vector<TorchOperator> VideoOperators();

// A contiguous tensor in the type of `x`, for operators' `allocate`.
at::Tensor EmptyBeside(const at::Tensor& x, c10::SymIntArrayRef sizes);
// One or two tensors like the argument `x`.
TorchOutputs LikeX(const TorchCall& call);
TorchOutputs LikeXTwice(const TorchCall& call);
// The argument `x` as e4m3, and a scale for each of its rows, unless the call gives one for all: as
// `static_out_scale`, or as `static_scale`.
TorchOutputs CodesOfX(const TorchCall& call);
TorchOutputs QuantizedX(const TorchCall& call);
// The argument `x` as int8, and a scale for each of its rows.
TorchOutputs TurnedX(const TorchCall& call);
// Half as wide as x, or like x with a separate value. The call refuses what does not fit.
TorchOutputs HalfOfX(const TorchCall& call);
// x [B,F,H,W,C] with its padding; and a sum like x.
TorchOutputs PaddedX(const TorchCall& call);
TorchOutputs PaddedXAndSum(const TorchCall& call);
// x [B,F,H,W,8C] with twice the frames, rows and columns.
TorchOutputs DoubledX(const TorchCall& call);
// Like q; and like k if it is given.
TorchOutputs LikeQ(const TorchCall& call);
TorchOutputs LikeQk(const TorchCall& call);

}  // namespace reel::kernels
