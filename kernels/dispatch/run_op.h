// SPDX-License-Identifier: Apache-2.0
// The last step of every operator: takes checked parameters, or a model's own call, and launches
// one variant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct OpCall {
  OpVariants cpu_variants;  // the operator's own, for plans without a catalog
  Dtype dtype = Dtype::kF32;
  const void* params = nullptr;
  bool empty = false;  // nothing to write: choose and count, but do not launch
  // Describes the tensors, for a failed launch's message and for recorders; called only then.
  absl::FunctionRef<std::vector<std::string>()> tensors;
  // False for a form of the operator that plug-ins are not tested in: none is asked.
  bool for_plugins = true;
};

// Chooses by the plan, counts, times when a timer is set, launches. FAILED_PRECONDITION when no
// variant can take the call; INTERNAL, RESOURCE_EXHAUSTED or ABORTED (the context is lost) when the
// device reports an error.
absl::Status RunOp(const OpCall& call, const Execution& run);

// A model's call of an operator, before a kernel's parameters exist.
struct FrameworkCall {
  std::string_view op;
  Dtype dtype = Dtype::kF32;
  const void* call = nullptr;  // passed to the framework's variants of `op`; receives their results
};

// Calls the operator of kernels/ for a model's call, with allocated outputs.
using KernelsOp = absl::FunctionRef<absl::Status(const Execution&)>;

// Chooses among all variants of the operator, once. A variant of the framework runs here, counted
// and timed. For a kernel, or without a catalog, it calls `kernels` with the choice in its
// Execution, which holds if the kernel takes these widths, strides and alignments. Errors as RunOp;
// throws what the framework and `kernels` throw.
absl::Status RunModelCall(const FrameworkCall& call, const Execution& run, KernelsOp kernels);

}  // namespace reel::kernels
