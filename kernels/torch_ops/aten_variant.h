// SPDX-License-Identifier: Apache-2.0
// libtorch's own implementations of operators (AtenForm) among the variants of a catalog.
#pragma once

#include <vector>

#include "kernels/dispatch/variant_table.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {

// One for each operator that has such a form.
HostedVariants AtenVariants(const std::vector<TorchOperator>& operators);

// Runs a call by the variant that the plan chooses, libtorch's among them. Statuses of the
// operator; throws what libtorch throws.
absl::Status RunOperator(const TorchOperator& op, const TorchCall& call, const Execution& run);

}  // namespace reel::kernels
