// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/rope/rope_launch.h"

namespace reel::kernels {

std::vector<OpVariants> RopeCudaVariants() {
  static constexpr KernelVariant kVariants[] = {GenericCudaVariant<LaunchRopeGeneric>()};
  return {MakeVariants<RopeParams>("rope_1d", kVariants),
          MakeVariants<RopeParams>("rope_3d", kVariants)};
}

}  // namespace reel::kernels
