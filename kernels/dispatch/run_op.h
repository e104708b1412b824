// SPDX-License-Identifier: Apache-2.0
// The last step of every operator: checked parameters, or a model's own call, in; one launch of one
// variant out.
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

// The operator of kernels/ for a model's call, with outputs that it has made room for.
using KernelsOp = absl::FunctionRef<absl::Status(const Execution&)>;

// Chooses among all variants of the operator, once. One of the framework's runs here, counted and
// timed; for a kernel, or without a catalog, `kernels` is called with the choice in its Execution,
// which holds if the kernel takes these widths, strides and alignments. Errors as RunOp; throws
// what the framework and `kernels` throw.
absl::Status RunModelCall(const FrameworkCall& call, const Execution& run, KernelsOp kernels);

}  // namespace reel::kernels
