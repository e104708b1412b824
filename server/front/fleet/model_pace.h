// SPDX-License-Identifier: Apache-2.0
// The time that a model's latest videos took for their work; newer videos count more. A value.
#pragma once

#include <cstdint>

namespace reel::front {

struct ModelPace {
  double seconds = 0;  // of a device
  double work = 0;     // in the units of whoever read the videos

  // A video has ended with a result. About the last twenty count.
  void Learn(int64_t video_work, double device_seconds) {
    constexpr double kKept = 0.95;
    if (video_work <= 0 || device_seconds <= 0) return;
    seconds = kKept * seconds + device_seconds;
    work = kKept * work + static_cast<double>(video_work);
  }
  bool is_known() const { return work > 0; }

  bool operator==(const ModelPace&) const = default;
};

}  // namespace reel::front
