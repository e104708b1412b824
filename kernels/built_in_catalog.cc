// SPDX-License-Identifier: Apache-2.0
#include "kernels/built_in_catalog.h"

#include "kernels/activation/activation.h"
#include "kernels/attention/attention.h"
#include "kernels/channel_norm_silu/channel_norm_silu.h"
#include "kernels/conv3d/conv3d.h"
#include "kernels/depth_to_space/depth_to_space.h"
#include "kernels/frame_convert/frame_convert.h"
#include "kernels/int8_rows/int8_rows.h"
#include "kernels/linear/linear.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/norm_linear/norm_linear.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/rows/fused_norm_call.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {

std::vector<OpVariants> BuiltInCpuVariants() {
  std::vector<OpVariants> all = {
      RmsNormCpuVariants(),           LinearCpuVariants(),          NormLinearCpuVariants(),
      PrepareNormLinearCpuVariants(), Rope1dCpuVariants(),          Rope3dCpuVariants(),
      LtxRopeCpuVariants(),           QkNormRopeCpuVariants(),      GatedActivationCpuVariants(),
      ActivationCpuVariants(),        ChannelNormSiluCpuVariants(), Conv3dCpuVariants(),
      DepthToSpaceCpuVariants(),      FrameConvertCpuVariants(),    QuantizeRowsCpuVariants(),
      AttentionCpuVariants(),         CrossAttentionCpuVariants(),  AttentionRestCpuVariants(),
      Int8RowsCpuVariants(),
  };
  for (const FusedOp* op : kFusedOps) all.push_back(FusedNormCpuVariants(*op));
  return all;
}

KernelCatalog BuiltInCatalog(DeviceCapability capability, const CudaLibraryTable* library) {
  KernelCatalog catalog(capability);
  if (library != nullptr) {
    for (int32_t i = 0; i < library->num_ops; ++i) {
      catalog.AddVariants(library->ops[i], "built-in", library);
    }
  }
  for (const OpVariants& op : BuiltInCpuVariants()) catalog.AddVariants(op, "built-in");
  return catalog;
}

}  // namespace reel::kernels
