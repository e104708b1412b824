// SPDX-License-Identifier: Apache-2.0
// The checked call of attention, cross_attention and attention_rest. Included by nvcc too.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace reel::kernels {

// [B, rows, N, columns]; strides in elements, 0 for a broadcast dimension.
struct AttentionOperand {
  void* data = nullptr;  // null: absent
  Dtype dtype = Dtype::kF32;
  int64_t strides[4] = {};
};

// The 8-bit format of queries and keys.
enum class KeyForm : int32_t { kE4m3, kInt8 };

struct AttentionParams {
  int64_t batch = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t heads = 0;
  int64_t width = 0;  // channels of a head
  AttentionOperand q, k, v, out;
  AttentionOperand bias;  // [B, S, N, L]
  const int32_t* key_lengths = nullptr;
  int64_t key_lengths_stride = 0;
  AttentionOperand q_scale;  // [B, S, 1, 1]
  // For attention_rest, which has none of the three above; otherwise both null.
  AttentionOperand before;    // [B, S, N, Dh]; may alias out
  AttentionOperand log_sums;  // fp32 [B, S, N, 1]
  float scale = 0;
  void* scratch = nullptr;            // for variants that need it: AttentionScratchBytes
  KeyForm key_form = KeyForm::kE4m3;  // of a call with a scratch
  int log2_keys = 0;                  // a key counts as much as two to this power
  double exact_share = 0;             // of the tiles of keys; 0: of a call for all
};

inline constexpr int64_t kMostPromptKeys = 128;  // for cross_attention and attention_rest

void AttentionLoops(const AttentionParams& params);
int32_t LaunchAttentionGeneric(const AttentionParams& params, void* stream);
bool CrossAttentionVectorAccepts(const AttentionParams& params);
int32_t LaunchCrossAttentionSm80(const AttentionParams& params, void* stream);
// The lossy variants write keys and values to the scratch first, by LaunchAttentionTilesSm90.
bool AttentionE4m3Accepts(const AttentionParams& params);
int32_t LaunchAttentionE4m3Sm90(const AttentionParams& params, void* stream);
bool AttentionInt8Accepts(const AttentionParams& params);
int32_t LaunchAttentionInt8Sm90(const AttentionParams& params, void* stream);
int32_t LaunchAttentionTilesSm90(const AttentionParams& params, void* stream);
// Writes means of tiles, as tiles, and chooses tiles for each block of queries (route_layout.h).
int32_t LaunchAttentionRoutesSm90(const AttentionParams& params, void* stream);
bool AttentionRoutedAccepts(const AttentionParams& params);
int32_t LaunchAttentionRoutedSm90(const AttentionParams& params, void* stream);
bool AttentionRestVectorAccepts(const AttentionParams& params);
int32_t LaunchAttentionRestSm80(const AttentionParams& params, void* stream);

}  // namespace reel::kernels
