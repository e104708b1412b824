// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_rows.h"
#include "kernels/rope/rope_launch.h"

namespace reel::kernels {

std::vector<OpRows> RopeCudaRows() {
  static constexpr KernelRow kRows[] = {GenericCudaRow<LaunchRopeGeneric>()};
  return {RowsOf<RopeParams>("rope_1d", kRows), RowsOf<RopeParams>("rope_3d", kRows)};
}

}  // namespace reel::kernels
