// SPDX-License-Identifier: Apache-2.0
// Makes the factored table of ltx_rope on the host, in fp32 and diffusers' order of operations. Its
// angles reach 15,708 and are coarse there; the model was trained with that precision, so it is
// kept.
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
// sizes below 1, a width below 6 or a frame rate that is not positive.
absl::StatusOr<LtxRopeTable> MakeLtxRopeTable(int64_t frames, int64_t height, int64_t width,
                                              double frame_rate, int64_t width_channels);

}  // namespace reel::kernels
