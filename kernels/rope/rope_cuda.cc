// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/rope/rope_launch.h"

namespace reel::kernels {

namespace {

constexpr KernelVariant kVariants[] = {GenericCudaVariant<LaunchRopeGeneric>()};

}  // namespace

OpVariants Rope1dCudaVariants() { return MakeVariants<RopeParams>("rope_1d", kVariants); }

OpVariants Rope3dCudaVariants() { return MakeVariants<RopeParams>("rope_3d", kVariants); }

}  // namespace reel::kernels
