// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/head_gate/head_gate_launch.h"
#include "kernels/rows/int8_layout.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

namespace {

// A vector is of one head; logits may lie anywhere.
bool HasHeadsOfVectors(const HeadGateParams& p) {
  return p.head_width * DtypeSize(p.x.dtype) % 16 == 0;
}

}  // namespace

bool HeadGateVectorAccepts(const HeadGateParams& p) {
  return !HasCodes(p.out) && HasHeadsOfVectors(p) &&
         FitsVectorElements(p.shape, p.x, {&p.x, &p.out});
}

bool HeadGateE4m3Accepts(const HeadGateParams& p) {
  return p.out.dtype == Dtype::kE4m3 && HasHeadsOfVectors(p) &&
         FitsVectorRows(p.shape, p.x, {&p.x}) && p.logits.inner == 1 &&
         FitsE4m3Vectors(p.shape, p.x, p.out);
}

// A thread holds a group of a row in 16 bits.
bool HeadGateInt8Accepts(const HeadGateParams& p) {
  return p.out.dtype == Dtype::kI8 && IsPlainInt8Width(p.shape.width) &&
         DtypeSize(p.x.dtype) == 2 && HasHeadsOfVectors(p) &&
         FitsVectorRows(p.shape, p.x, {&p.x}) && p.logits.inner == 1 &&
         FitsCodeRuns(p.shape, p.out, kTurnedRun);
}

OpVariants HeadGateCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchHeadGateSm90, HeadGateVectorAccepts>(),
      Sm90Variant<LaunchHeadGateE4m3Sm90, HeadGateE4m3Accepts>(kAnyFloating, kE4m3Sm90),
      Sm90Variant<LaunchHeadGateInt8Sm90, HeadGateInt8Accepts>(kSixteenBit, kInt8Sm90),
      Sm80Variant<LaunchHeadGateSm80, HeadGateVectorAccepts>(),
      Sm80Variant<LaunchHeadGateE4m3Sm80, HeadGateE4m3Accepts>(kAnyFloating, kE4m3Sm80),
      GenericCudaVariant<LaunchHeadGateGeneric>(),
  };
  return MakeVariants<HeadGateParams>("head_gate", kVariants);
}

}  // namespace reel::kernels
