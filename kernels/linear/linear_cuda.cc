// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/cuda/library_variants.h"
#include "kernels/linear/linear_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

// What the copy engine takes: vectors of 16 bytes, and no broadcast rows. A single row has no
// stride.
bool IsForCopyEngine(const RowOperand& operand, int64_t rows, int64_t width) {
  const RowShape shape{.rows = rows, .width = width, .dims = 1};
  return FitsVectorElements(shape, operand, {&operand}) && (rows == 1 || operand.strides[0] > 0);
}

constexpr int64_t kMostTiles = std::numeric_limits<int32_t>::max();
// Sums of this many products of two codes stay within int32.
constexpr int64_t kMostWidth = int64_t{1} << 17;

}  // namespace

bool LinearInt8Accepts(const LinearParams& p) {
  if (p.x.dtype != Dtype::kI8 || p.shape.width == 0 || p.shape.width > kMostWidth) return false;
  return p.shape.dims <= 1 && p.shape.rows < kMostTiles && p.outputs < kMostTiles / 128 &&
         IsForCopyEngine(p.x, p.shape.rows, p.shape.width) &&
         IsForCopyEngine(p.weight, p.outputs, p.shape.width) &&
         IsForCopyEngine(p.out, p.shape.rows, p.outputs);
}

OpVariants LinearCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchLinearInt8Sm90, LinearInt8Accepts>(kSixteenBit, kInt8Sm90),
  };
  return MakeVariants<LinearParams>("linear", kVariants);
}

}  // namespace reel::kernels
