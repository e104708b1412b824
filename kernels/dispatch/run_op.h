// SPDX-License-Identifier: Apache-2.0
// The last step of every operator: checked parameters, or a model's own call, in; one launch of one
// variant out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct OpCall {
  OpVariants cpu_variants;  // the operator's own, for plans without a catalog
  Dtype dtype = Dtype::kF32;
  const void* params = nullptr;
  bool empty = false;  // no element to write: chosen and counted, but not launched
  // The tensors, for the message of a failed launch and for recorders; called then only.
  absl::FunctionRef<std::vector<std::string>()> tensors;
  // False for a form of the operator that plug-ins are not compared in: none is asked.
  bool for_plugins = true;
};

// Chooses by the plan, counts, times when a timer is set, launches. FAILED_PRECONDITION when no
// variant can take the call; INTERNAL, RESOURCE_EXHAUSTED or ABORTED (the context is lost) when the
// device reports an error.
absl::Status RunOp(const OpCall& call, const Execution& run);

// A model's call of an operator, before anybody has made a kernel's parameters of it.
struct FrameworkCall {
  std::string_view op;
  Dtype dtype = Dtype::kF32;
  const void* call = nullptr;  // what the framework's variants of `op` are given; has its results
};

// Chooses among all variants of the operator. True: one of the framework's, which has run, counted
// and timed. False: a kernel, or there is no catalog, and the caller calls the operator of
// kernels/, whose parameters decide which kernel. Errors as RunOp; throws what the framework
// throws.
absl::StatusOr<bool> RunFramework(const FrameworkCall& call, const Execution& run);

}  // namespace reel::kernels
