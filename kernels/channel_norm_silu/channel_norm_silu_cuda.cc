// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_norm_silu/channel_norm_silu_launch.h"
#include "kernels/cuda/library_variants.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool ChannelNormSiluVectorAccepts(const ChannelNormSiluParams& params) {
  return params.out_frame_stride * DtypeSize(params.out.dtype) % 16 == 0 &&
         FitsVectorRows(params.shape, params.x,
                        {&params.x, &params.out, &params.residual, &params.bias, &params.sum,
                         &params.scale, &params.shift});
}

OpVariants ChannelNormSiluCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchChannelNormSiluSm80, ChannelNormSiluVectorAccepts>(),
      GenericCudaVariant<LaunchChannelNormSiluGeneric>(),
  };
  return MakeVariants<ChannelNormSiluParams>("channel_norm_silu", kVariants);
}

}  // namespace reel::kernels
