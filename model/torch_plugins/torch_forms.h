// SPDX-License-Identifier: Apache-2.0
// The operators of torch libraries that Reel knows by name and schema, and the conversion of a
// checked call to one of theirs.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "kernels/base/dtype.h"
#include "model/bridge/aten.h"

namespace reel::model {

struct TorchForm {
  std::string op;         // Reel's name
  std::string function;   // in the library's namespace
  std::string arguments;  // "(Tensor(a!) out, Tensor input) -> ()"; names of arguments are free
  uint64_t params_size;   // size of the operator's parameters
  kernels::Dtype (*dtype)(const void* params);
  bool (*accepts)(const void* params);
  torch::jit::Stack (*stack)(const void* params, at::Device device);
};

// The public collections' (`kernels-community/activation` and similar), then Reel's own.
absl::Span<const TorchForm> TorchForms();

}  // namespace reel::model
