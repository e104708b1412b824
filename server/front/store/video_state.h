// SPDX-License-Identifier: Apache-2.0
// The state of a video, as the API shows it and as rows keep it.
#pragma once

namespace reel::front {

// The numbers are those in files of rows.
enum class VideoState { kQueued = 0, kRunning = 1, kSucceeded = 2, kFailed = 3, kCancelled = 4 };

constexpr bool IsFinal(VideoState state) {
  return state != VideoState::kQueued && state != VideoState::kRunning;
}

}  // namespace reel::front
