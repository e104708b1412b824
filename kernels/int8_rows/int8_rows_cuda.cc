// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr int64_t kMostWidth = 512 * kTurned;  // a group for each thread of a block

}  // namespace

bool Int8RowsVectorAccepts(const Int8RowsParams& p) {
  return p.shape.width <= kMostWidth && FitsVectorElements(p.shape, p.x, {&p.x}) &&
         FitsCodeRuns(p.shape, p.out, kTurnedRun);
}

OpVariants Int8RowsCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchInt8RowsSm90, Int8RowsVectorAccepts>(),
      Sm80Variant<LaunchInt8RowsSm80, Int8RowsVectorAccepts>(),
      GenericCudaVariant<LaunchInt8RowsGeneric>(),
  };
  return MakeVariants<Int8RowsParams>("int8_rows", kVariants);
}

}  // namespace reel::kernels
