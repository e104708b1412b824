// SPDX-License-Identifier: Apache-2.0
// The type in which a model is loaded.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/bridge/aten.h"
#include "model/load_options.h"

namespace reel::model {

// The options' `dtype`; where it is empty fp32 on a CPU, and on a GPU bf16, or fp16 where it
// computes in no bf16. INVALID_ARGUMENT names a type that weights do not have.
absl::StatusOr<at::ScalarType> DtypeOf(const LoadOptions& options, at::Device device);

// "fp32", "bf16" or "fp16".
std::string DtypeName(at::ScalarType dtype);

}  // namespace reel::model
