// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_variants.h"

#include "model/bridge/operator_variants.h"

namespace reel::model {

void AddFrameworkVariants(kernels::KernelCatalog& catalog) {
#define REEL_LIBTORCH(file, name) Add##name##Variants(catalog);
#include "kernels/operators.def"
#undef REEL_LIBTORCH
}

}  // namespace reel::model
