// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/float_types.h"
#include "kernels/frame_convert/frame_convert_job.h"

namespace reel::kernels {

void FrameConvertLoops(const FrameConvertParams& params) {
  VisitFloating(params.dtype, [&]<typename T>(T) {
    const auto read = [&](int64_t offset) {
      const float x = ToFloat(static_cast<const T*>(params.in)[offset]);
      if (params.exact) return CutToUnit(x * 0.5f + 0.5f);
      const float half = ToFloat(RoundTo<T>(x * 0.5f));
      return CutToUnit(ToFloat(RoundTo<T>(half + 0.5f)));
    };
    for (int64_t job = 0; job < FrameJobs(params); ++job) ConvertJob(params, read, job);
  });
}

}  // namespace reel::kernels
