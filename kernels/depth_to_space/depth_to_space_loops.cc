// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding.
#include "kernels/base/float_types.h"
#include "kernels/depth_to_space/depth_to_space_launch.h"

namespace reel::kernels {

void DepthToSpaceLoops(const DepthToSpaceParams& params) {
  VisitFloating(params.dtype, [&]<typename T>(T) {
    const auto read = [](const void* data, int64_t offset) {
      return static_cast<double>(ToFloat(static_cast<const T*>(data)[offset]));
    };
    const int64_t jobs = DepthToSpacePixels(params) * params.channels;
    for (int64_t index = 0; index < jobs; ++index) {
      const DepthToSpaceJob job = DepthToSpaceJobAt(params, index, 1);
      for (int n = 0; n < 8; ++n) {
        int64_t to = 0;
        if (!OutOffsetOf(params, job, n, to)) continue;
        const int64_t channel = 8 * job.channel + n;
        double value = read(params.x.data, OffsetOf(params.x, job.at, channel));
        if (params.bias != nullptr) value += read(params.bias, channel * params.bias_stride);
        if (params.residual.data != nullptr) {
          value += read(params.residual.data, OffsetOf(params.residual, job.at,
                                                       channel % (8 * params.residual_channels)));
        }
        static_cast<T*>(params.out.data)[to] = RoundTo<T>(static_cast<float>(value));
      }
    }
  });
}

}  // namespace reel::kernels
