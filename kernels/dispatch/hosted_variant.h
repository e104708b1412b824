// SPDX-License-Identifier: Apache-2.0
// A variant that a plug-in brought: one operator's implementation behind a small interface, because
// it carries state of its own (a library's handle, a name from the configuration).
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
  std::string variant;  // what requests select: the plug-in's name, or begins with it and a dot
  std::string origin;   // the plug-in's name in the configuration
  int32_t min_sm = 0;   // as in KernelVariant
  int32_t max_sm = 0;
  DtypeMask dtypes = 0;
  uint64_t params_size = 0;  // of the operator's parameters, as the plug-in knows them
};

// Confined to the executing thread; shared by a catalog and its plans.
class HostedVariant {
 public:
  virtual ~HostedVariant() = default;
  virtual const HostedVariantFacts& facts() const = 0;
  virtual bool Accepts(const void* params) const = 0;
  // RESOURCE_EXHAUSTED for memory, ABORTED for a lost device, else INTERNAL, in the plug-in's
  // words.
  virtual absl::Status Launch(const void* params, DeviceStream stream) const = 0;
};

}  // namespace reel::kernels
