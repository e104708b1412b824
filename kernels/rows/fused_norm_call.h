// SPDX-License-Identifier: Apache-2.0
// The steps that every fused norm takes on the host. For operators' .cc files.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_row.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

OpRows FusedNormCpuRows(const char* op);

// Parameters over the rows of x, with every other part absent.
FusedNormParams FusedNormOf(const TensorView& x, Statistic statistic, double eps);

// Merges dims, chooses a row, launches it.
absl::Status RunFusedNorm(const char* op, FusedNormParams params, const ArgumentChecks& checks,
                          const Execution& run);

// The CUDA rows of an operator of this family.
template <auto kSm80, auto kGeneric>
OpRows FusedNormCudaRows(const char* op) {
  static constexpr KernelRow kRows[] = {
      Sm80Row<kSm80, FusedNormVectorAccepts>(),
      GenericCudaRow<kGeneric>(),
  };
  return RowsOf<FusedNormParams>(op, kRows);
}
// With one for Hopper.
template <auto kSm90, auto kSm80, auto kGeneric>
OpRows FusedNormHopperRows(const char* op) {
  static constexpr KernelRow kRows[] = {
      Sm90Row<kSm90, FusedNormVectorAccepts>(),
      Sm80Row<kSm80, FusedNormVectorAccepts>(),
      GenericCudaRow<kGeneric>(),
  };
  return RowsOf<FusedNormParams>(op, kRows);
}

}  // namespace reel::kernels
