// SPDX-License-Identifier: Apache-2.0
// The steps that every fused norm takes on the host. For operators' .cc files.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

OpVariants FusedNormCpuVariants(const char* op);

// Parameters over the rows of x, with every other part absent.
FusedNormParams FusedNormOf(const TensorView& x, Statistic statistic, double eps);

// Merges dims, chooses a variant, launches it.
absl::Status RunFusedNorm(const char* op, FusedNormParams params, const ArgumentChecks& checks,
                          const Execution& run);

}  // namespace reel::kernels
