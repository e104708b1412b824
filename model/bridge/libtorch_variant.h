// SPDX-License-Identifier: Apache-2.0
// An implementation of an operator by libtorch as a variant of the catalog: functions of the
// operator's call, of which the catalog knows no more than the address.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/dispatch/hosted_variant.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::model {

// What a variant does with the calls of one operator.
struct CallFunctions {
  void (*run)(const void* call);
  std::string_view (*why_not)(const void* call) = nullptr;  // "" or null: takes the call
  bool (*prefers)(const void* call) = nullptr;              // null: every one that it takes
};

template <auto kFunction>
struct Untyped;
template <typename Result, typename Call, Result (*kFunction)(const Call&)>
struct Untyped<kFunction> {
  static Result Of(const void* call) { return kFunction(*static_cast<const Call*>(call)); }
};
// kUntyped<Run>: a function of an operator's call as one of the call's address.
template <auto kFunction>
inline constexpr auto kUntyped = &Untyped<kFunction>::Of;

// The capabilities that a variant runs on; a CPU counts as 0.
struct DeviceRange {
  int32_t min_sm = kernels::kCpuOnly;
  int32_t max_sm = kernels::kAnyLaterSm;
};

struct LibtorchVariantFacts {
  std::string_view op, variant;
  DeviceRange range = {};
  bool for_some_sizes = false;
};
std::shared_ptr<const kernels::HostedVariant> MakeLibtorchVariant(const LibtorchVariantFacts& facts,
                                                                  CallFunctions functions);

// "aten": libtorch itself, in the reference's order of operations and roundings, which the profile
// "reference" runs.
template <auto kRun>
std::shared_ptr<const kernels::HostedVariant> AtenVariant(std::string_view op) {
  return MakeLibtorchVariant({.op = op, .variant = "aten"}, {.run = kUntyped<kRun>});
}

}  // namespace reel::model
