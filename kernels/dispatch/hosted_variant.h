// SPDX-License-Identifier: Apache-2.0
// A variant with state, behind a small interface: a plug-in's (its library, its configured name),
// or one of the framework that models use, whose calls are tensors.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernels/base/dtype.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// What a catalog needs to know; strides and alignments are left to Accepts.
struct HostedVariantFacts {
  std::string op;
  std::string
      variant;  // the name in requests: a plug-in's name, or one that begins with it and a dot
  std::string origin;  // the plug-in's name in the configuration, or "framework"
  int32_t min_sm = 0;  // as in KernelVariant
  int32_t max_sm = 0;
  DtypeMask dtypes = 0;
  // Size of the operator's parameters as the plug-in knows them. 0: the framework's variant, whose
  // calls are those of model/bridge.
  uint64_t params_size = 0;
  // Better than the following variants at sizes that it knows, and only there.
  bool for_some_sizes = false;
};

// Used by the executing thread alone; shared by a catalog and its plans. A call is a plug-in's
// parameters or a framework's call (HostedVariantFacts.params_size).
class HostedVariant {
 public:
  virtual ~HostedVariant() = default;
  virtual const HostedVariantFacts& facts() const = 0;
  virtual bool Accepts(const void* call) const = 0;
  // The reason for a refusal.
  virtual std::string Reason(const void* /*call*/) const {
    return "it does not take these widths, strides or alignments";
  }
  // Whether "auto" gives it a call that it accepts; if not, a request must name it.
  virtual bool Prefers(const void* /*call*/) const { return true; }
  // RESOURCE_EXHAUSTED for memory, ABORTED for a lost device, otherwise INTERNAL, with its own
  // message. The framework's variants may throw its exceptions.
  virtual absl::Status Launch(const void* call, DeviceStream stream) const = 0;
};

}  // namespace reel::kernels
