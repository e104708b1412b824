// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/library_variants.h"
#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr int64_t kMostWidth = 512 * kTurned;  // a group for each thread of a block

}  // namespace

bool Int8RowsVectorAccepts(const Int8RowsParams& p) {
  if (p.shape.rows == 0 || p.shape.width == 0) return true;
  const bool runs = p.out.inner == 1 && reinterpret_cast<uintptr_t>(p.out.data) % kRun == 0 &&
                    std::all_of(p.out.strides, p.out.strides + p.shape.dims,
                                [](int64_t stride) { return stride % kRun == 0; });
  return runs && p.shape.width <= kMostWidth && FitsVectorElements(p.shape, p.x, {&p.x});
}

std::vector<OpVariants> Int8RowsCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchInt8RowsSm80, Int8RowsVectorAccepts>(),
      GenericCudaVariant<LaunchInt8RowsGeneric>(),
  };
  return {MakeVariants<Int8RowsParams>("int8_rows", kVariants)};
}

}  // namespace reel::kernels
