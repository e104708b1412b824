// SPDX-License-Identifier: Apache-2.0
// The last step of every operator: checked parameters in, one launch of one variant out.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct OpCall {
  OpVariants cpu_variants;  // the operator's own, for plans without a catalog
  Dtype dtype = Dtype::kF32;
  const void* params = nullptr;
  bool empty = false;  // no element to write: chosen and counted, but not launched
  // Shapes for the message of a failed launch; called then only.
  absl::FunctionRef<std::string()> shapes;
  // False for a form of the operator that plug-ins are not compared in: none is asked.
  bool for_plugins = true;
};

// Chooses by the plan, counts, times when a timer is set, launches. FAILED_PRECONDITION when no
// variant can take the call; INTERNAL, RESOURCE_EXHAUSTED or ABORTED (the context is lost) when the
// device reports an error.
absl::Status RunOp(const OpCall& call, const Execution& run);

}  // namespace reel::kernels
