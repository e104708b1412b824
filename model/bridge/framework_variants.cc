// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_variants.h"

#include "model/bridge/operator_variants.h"

namespace reel::model {

void AddFrameworkVariants(kernels::KernelCatalog& catalog) {
  AddNormVariants(catalog);
  AddQkNormRopeVariants(catalog);
  AddActivationVariants(catalog);
  AddFrameVariants(catalog);
  AddAttentionVariants(catalog);
  AddLinearVariants(catalog);
  AddConv3dVariants(catalog);
  AddStepCacheVariants(catalog);
}

}  // namespace reel::model
