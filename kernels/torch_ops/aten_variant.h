// SPDX-License-Identifier: Apache-2.0
// Puts libtorch's own implementations of operators (AtenForm) among a catalog's variants.
#pragma once

#include <vector>

#include "kernels/dispatch/variant_table.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {

// One variant for each operator that has such a form.
HostedVariants AtenVariants(const std::vector<TorchOperator>& operators);

// Runs a call with the variant that the plan chooses, which may be libtorch's. Returns the
// operator's status; throws libtorch's exceptions.
absl::Status RunOperator(const TorchOperator& op, const TorchCall& call, const Execution& run);

}  // namespace reel::kernels
