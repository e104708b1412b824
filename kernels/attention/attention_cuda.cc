// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "kernels/attention/attention_launch.h"
#include "kernels/attention/route_layout.h"
#include "kernels/attention/tile_layout.h"
#include "kernels/cuda/library_variants.h"

namespace reel::kernels {
namespace {

constexpr int64_t kVectorBytes = 16;

bool IsAligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kVectorBytes == 0; }

// Each row of a head begins at a multiple of 16 bytes. Strides count even if a size is 1, so that a
// part of a batch takes the same variant as the whole batch.
bool HasVectors(const AttentionOperand& operand) {
  return operand.strides[3] == 1 && IsAligned(operand.data) &&
         std::all_of(operand.strides, operand.strides + 3, [&](int64_t stride) {
           return stride * DtypeSize(operand.dtype) % kVectorBytes == 0;
         });
}

// Calls that allow 8 bits.
bool FitsTiles(const AttentionParams& p) {
  const bool plain =
      p.bias.data == nullptr && p.key_lengths == nullptr && p.q_scale.data == nullptr;
  return p.scratch != nullptr && IsAligned(p.scratch) && plain && HasKeyTiles(p.width) &&
         p.keys > 0 && HasVectors(p.q) && HasVectors(p.k) && HasVectors(p.v) && HasVectors(p.out);
}

}  // namespace

bool CrossAttentionVectorAccepts(const AttentionParams& p) {
  return (p.width == 64 || p.width == 128) && p.keys <= kMostPromptKeys && HasVectors(p.q) &&
         HasVectors(p.k) && HasVectors(p.v) && HasVectors(p.out);
}

bool AttentionE4m3Accepts(const AttentionParams& p) {
  return p.key_form == KeyForm::kE4m3 && FitsTiles(p);
}
bool AttentionRoutedAccepts(const AttentionParams& p) {
  return p.exact_share > 0 && KeyTiles(p.keys) <= kMostRoutedTiles && AttentionE4m3Accepts(p);
}
bool AttentionInt8Accepts(const AttentionParams& p) {
  return p.key_form == KeyForm::kInt8 && FitsTiles(p);
}

bool AttentionRestVectorAccepts(const AttentionParams& p) {
  return CrossAttentionVectorAccepts(p) && HasVectors(p.before);
}

OpVariants AttentionCudaVariants() {
  static constexpr KernelVariant kAttention[] = {
      Sm90Variant<LaunchAttentionRoutedSm90, AttentionRoutedAccepts>(kSixteenBit, kRoutedSm90),
      Sm90Variant<LaunchAttentionE4m3Sm90, AttentionE4m3Accepts>(kSixteenBit, kE4m3Sm90),
      Sm90Variant<LaunchAttentionInt8Sm90, AttentionInt8Accepts>(kSixteenBit, kInt8Sm90),
      GenericCudaVariant<LaunchAttentionGeneric>(),
  };
  return MakeVariants<AttentionParams>("attention", kAttention);
}

OpVariants CrossAttentionCudaVariants() {
  static constexpr KernelVariant kCrossAttention[] = {
      Sm80Variant<LaunchCrossAttentionSm80, CrossAttentionVectorAccepts>(kSixteenBit),
      GenericCudaVariant<LaunchAttentionGeneric>(),
  };
  return MakeVariants<AttentionParams>("cross_attention", kCrossAttention);
}

OpVariants AttentionRestCudaVariants() {
  static constexpr KernelVariant kAttentionRest[] = {
      Sm80Variant<LaunchAttentionRestSm80, AttentionRestVectorAccepts>(kSixteenBit),
      GenericCudaVariant<LaunchAttentionGeneric>(),
  };
  return MakeVariants<AttentionParams>("attention_rest", kAttentionRest);
}

}  // namespace reel::kernels
