// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_launch.h"
#include "kernels/cuda/library_rows.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool ActivationVectorAccepts(const ActivationParams& params) {
  // Vectors of a row are counted in 32 bits.
  return params.shape.width < (int64_t{1} << 31) &&
         FitsVectorElements(params.shape, params.x,
                            {&params.x, &params.bias, &params.value, &params.out});
}

std::vector<OpRows> ActivationCudaRows() {
  static constexpr KernelRow kRows[] = {
      Sm80Row<LaunchActivationSm80, ActivationVectorAccepts>(),
      GenericCudaRow<LaunchActivationGeneric>(),
  };
  return {RowsOf<ActivationParams>("activation", kRows),
          RowsOf<ActivationParams>("gated_activation", kRows)};
}

}  // namespace reel::kernels
