// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "kernels/cuda/library_variants.h"
#include "kernels/depth_to_space/depth_to_space_launch.h"

namespace reel::kernels {
namespace {

// Contiguous channels, every pixel at a multiple of so many bytes.
bool Fits(const FramesOperand& operand, int64_t bytes, int64_t element) {
  if (operand.data == nullptr) return true;
  if (operand.strides[4] != 1) return false;
  if (reinterpret_cast<uintptr_t>(operand.data) % static_cast<uintptr_t>(bytes) != 0) return false;
  for (int d = 0; d < 4; ++d) {
    if (operand.strides[d] * element % bytes != 0) return false;
  }
  return true;
}

}  // namespace

bool DepthToSpacePairsAccept(const DepthToSpaceParams& p) {
  const int64_t element = DtypeSize(p.dtype);
  if (p.channels % 2 != 0 || (p.residual.data != nullptr && p.residual_channels % 2 != 0)) {
    return false;
  }
  const bool bias_fits =
      p.bias == nullptr || (p.bias_stride == 1 && reinterpret_cast<uintptr_t>(p.bias) % 16 == 0);
  return bias_fits && Fits(p.x, 16, element) && Fits(p.residual, 16, element) &&
         Fits(p.out, 2 * element, element);
}

OpVariants DepthToSpaceCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchDepthToSpaceSm80, DepthToSpacePairsAccept>(),
      GenericCudaVariant<LaunchDepthToSpaceGeneric>(),
  };
  return MakeVariants<DepthToSpaceParams>("depth_to_space", kVariants);
}

}  // namespace reel::kernels
