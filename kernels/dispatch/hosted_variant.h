// SPDX-License-Identifier: Apache-2.0
// A variant behind a small interface, because it carries state of its own: a plug-in's (a library's
// handle, a name from the configuration), or one of the framework that models are written in, whose
// calls are tensors.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernels/base/dtype.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// What a catalog asks of it; strides and alignments are Accepts' business.
struct HostedVariantFacts {
  std::string op;
  std::string variant;  // what requests select; a plug-in's name, or begins with it and a dot
  std::string origin;   // the plug-in's name in the configuration, or "framework"
  int32_t min_sm = 0;   // as in KernelVariant
  int32_t max_sm = 0;
  DtypeMask dtypes = 0;
  // Of the operator's parameters, as the plug-in knows them. 0: it is the framework's, and its
  // calls are those of model/bridge.
  uint64_t params_size = 0;
  // Better than those behind it at sizes that it knows, and at no others.
  bool for_some_sizes = false;
};

// Confined to the executing thread; shared by a catalog and its plans. A call is a plug-in's
// parameters or a framework's call (HostedVariantFacts.params_size).
class HostedVariant {
 public:
  virtual ~HostedVariant() = default;
  virtual const HostedVariantFacts& facts() const = 0;
  virtual bool Accepts(const void* call) const = 0;
  // Why it does not accept it.
  virtual std::string Reason(const void* /*call*/) const {
    return "it does not take these widths, strides or alignments";
  }
  // Whether "auto" gives it a call that it accepts; else it must be named.
  virtual bool Prefers(const void* /*call*/) const { return true; }
  // RESOURCE_EXHAUSTED for memory, ABORTED for a lost device, else INTERNAL, in its own words. The
  // framework's may throw what the framework throws.
  virtual absl::Status Launch(const void* call, DeviceStream stream) const = 0;
};

}  // namespace reel::kernels
