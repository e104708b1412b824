// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_rows.h"
#include "kernels/frame_convert/frame_convert_launch.h"

namespace reel::kernels {

std::vector<OpRows> FrameConvertCudaRows() {
  static constexpr KernelRow kRows[] = {GenericCudaRow<LaunchFrameConvertGeneric>()};
  return {RowsOf<FrameConvertParams>("frame_convert", kRows)};
}

}  // namespace reel::kernels
