// SPDX-License-Identifier: Apache-2.0
#include "kernels/built_in_catalog.h"

#include "kernels/rows/fused_norm_call.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {

// Defined in each operator's own files.
#define REEL_OPERATOR(op, name, ...) OpVariants name##CpuVariants();
#define REEL_HOST_OPERATOR REEL_OPERATOR
#include "kernels/operators.def"
#undef REEL_OPERATOR

std::vector<OpVariants> BuiltInCpuVariants() {
  return {
#define REEL_OPERATOR(op, name, ...) name##CpuVariants(),
#define REEL_FUSED_OPERATOR(op, name, ...) FusedNormCpuVariants(k##name),
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR
#undef REEL_HOST_OPERATOR
#undef REEL_OPERATOR
  };
}

KernelCatalog BuiltInCatalog(DeviceCapability capability, const CudaLibraryTable* library) {
  KernelCatalog catalog(capability);
  if (library != nullptr) {
    for (int32_t i = 0; i < library->num_ops; ++i) {
      catalog.AddVariants(library->ops[i], "built-in", library);
    }
  }
  for (const OpVariants& op : BuiltInCpuVariants()) catalog.AddVariants(op, "built-in");
  return catalog;
}

}  // namespace reel::kernels
