// SPDX-License-Identifier: Apache-2.0
// Variants of libtorch, operator by operator; each function is in its operator's file, and adds
// them to the catalog before or behind those of kernels/.
#pragma once

#include "kernels/dispatch/kernel_catalog.h"

namespace reel::model {

#define REEL_LIBTORCH(file, name) void Add##name##Variants(kernels::KernelCatalog& catalog);
#include "kernels/operators.def"
#undef REEL_LIBTORCH

// Where libtorch's variant of an operator stands whose `cpu` variant reads each row once, by all
// threads of the process: below that, and on a device behind all.
inline kernels::KernelCatalog::Place BelowCpuAndDevice(const kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  return catalog.capability().device >= 0 ? Place::kLast : Place::kBelowTuned;
}
// The same of an operator that has only `loops` on a CPU: before those.
inline kernels::KernelCatalog::Place BeforeLoops(const kernels::KernelCatalog& catalog) {
  using Place = kernels::KernelCatalog::Place;
  return catalog.capability().device >= 0 ? Place::kLast : Place::kFirst;
}

}  // namespace reel::model
