// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/fused_norm_layout.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

bool IsPlain(const RmsNormParams& params) {
  const unsigned out = params.out.dtype == Dtype::kE4m3 ? kNormed | kE4m3 : kNormed;
  const FusedNormParams fused = FusedOf(params);
  if (HasPlainParts(fused, out)) return IsFused(params);
  return HasPlainParts(fused, out | kAffine) && (IsFused(params) || IsRoundedFirst(params));
}

}  // namespace

bool RmsNormVectorAccepts(const RmsNormParams& params) {
  return params.out.dtype != Dtype::kE4m3 &&
         FitsVectorRows(params.shape, params.x,
                        {&params.x, &params.weight, &params.bias, &params.out});
}

bool RmsNormPlainAccepts(const RmsNormParams& params) {
  return RmsNormVectorAccepts(params) && IsPlain(params);
}

bool RmsNormE4m3Accepts(const RmsNormParams& params) {
  return FusedNormE4m3Accepts(FusedOf(params)) && IsPlain(params);
}

OpVariants RmsNormCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchRmsNormSm90, RmsNormPlainAccepts>(),
      Sm90Variant<LaunchRmsNormE4m3Sm90, RmsNormE4m3Accepts>(kAnyFloating, kE4m3Sm90),
      Sm80Variant<LaunchRmsNormSm80, RmsNormPlainAccepts>(),
      Sm80Variant<LaunchRmsNormE4m3Sm80, RmsNormE4m3Accepts>(kAnyFloating, kE4m3Sm80),
      Sm80Variant<LaunchRmsNormGeneralSm80, RmsNormVectorAccepts>(kAnyFloating, kGeneralSm80),
      GenericCudaVariant<LaunchRmsNormGeneric>(),
  };
  return MakeVariants<RmsNormParams>("rms_norm", kVariants);
}

}  // namespace reel::kernels
