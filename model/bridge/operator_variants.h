// SPDX-License-Identifier: Apache-2.0
// Variants of libtorch, operator by operator; each function is in its operator's file, and adds
// them to the catalog before or behind those of kernels/.
#pragma once

#include "kernels/dispatch/kernel_catalog.h"

namespace reel::model {

void AddNormVariants(kernels::KernelCatalog& catalog);
void AddQkNormRopeVariants(kernels::KernelCatalog& catalog);
void AddActivationVariants(kernels::KernelCatalog& catalog);
void AddFrameVariants(kernels::KernelCatalog& catalog);
void AddAttentionVariants(kernels::KernelCatalog& catalog);
void AddLinearVariants(kernels::KernelCatalog& catalog);
void AddConv3dVariants(kernels::KernelCatalog& catalog);
void AddStepCacheVariants(kernels::KernelCatalog& catalog);

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
