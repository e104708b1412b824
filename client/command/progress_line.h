// SPDX-License-Identifier: Apache-2.0
// Renders the line that shows a video's progress. Pure: no terminal, no clock.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

struct ProgressView {
  std::string stage;  // of the job, or of the client ("connecting")
  double fraction = 0;
  int step = 0, num_steps = 0;
  int queue_position = 0;
  absl::Duration remaining;  // zero: unknown
  int64_t bytes = 0;         // bytes received
  std::string note;          // any other text, e.g. a preview's path; dropped first
};

// The server's progress, without the client's own fields.
ProgressView ViewOf(const v1::Progress& progress);

// At most `width` - 1 columns (terminals wrap at the last one), in ASCII:
//   denoise    [=======>            ]  35%  step 7/20  3.1 s left  1.2 MB
// Parts that do not fit are left out, the least important first.
std::string RenderProgress(const ProgressView& view, int width);

}  // namespace reel::client
