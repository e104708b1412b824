// SPDX-License-Identifier: Apache-2.0
// The factored table of ltx_rope, made on the host. fp32 in the order of operations of diffusers,
// whose angles reach 15,708 and are coarse there: that is the model's own precision, and is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::kernels {

struct LtxRopeTable {
  int64_t rows = 0;            // R
  int64_t frequencies = 0;     // K = width / 6
  std::vector<float> cos_sin;  // [R,K,2]
  std::vector<int32_t> index;  // [S,3]: rows of t, y, x
};

// For a latent grid of tokens (f*height + h)*width + w. `width_channels` is D. INVALID_ARGUMENT for
// sizes below 1, a width below 6 or a frame rate that is not above zero.
absl::StatusOr<LtxRopeTable> MakeLtxRopeTable(int64_t frames, int64_t height, int64_t width,
                                              double frame_rate, int64_t width_channels);

}  // namespace reel::kernels
