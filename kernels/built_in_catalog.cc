// SPDX-License-Identifier: Apache-2.0
#include "kernels/built_in_catalog.h"

#include "kernels/activation/activation.h"
#include "kernels/attention/attention.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/norm_linear/norm_linear.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpRows> BuiltInCpuRows() {
  return {
      RmsNormCpuRows(),
      FusedNormCpuRows("rms_norm_residual"),
      FusedNormCpuRows("layer_norm"),
      FusedNormCpuRows("layer_norm_residual"),
      NormLinearCpuRows(),
      PrepareNormLinearCpuRows(),
      FusedNormCpuRows("adaln_rms_norm"),
      FusedNormCpuRows("adaln_layer_norm"),
      FusedNormCpuRows("adaln_zero"),
      FusedNormCpuRows("gate_residual"),
      FusedNormCpuRows("gate_residual_adaln"),
      Rope1dCpuRows(),
      Rope3dCpuRows(),
      LtxRopeCpuRows(),
      QkNormRopeCpuRows(),
      GatedActivationCpuRows(),
      ActivationCpuRows(),
      ChannelNormSiluCpuRows(),
      DepthToSpaceCpuRows(),
      FrameConvertCpuRows(),
      QuantizeRowsCpuRows(),
      AttentionCpuRows(),
      CrossAttentionCpuRows(),
  };
}

KernelCatalog BuiltInCatalog(DeviceCapability capability, const CudaLibraryTable* library) {
  KernelCatalog catalog(capability);
  if (library != nullptr) {
    for (int32_t i = 0; i < library->num_ops; ++i) {
      catalog.AddRows(library->ops[i], "built-in", library);
    }
  }
  for (const OpRows& rows : BuiltInCpuRows()) catalog.AddRows(rows, "built-in");
  return catalog;
}

}  // namespace reel::kernels
