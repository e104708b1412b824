// SPDX-License-Identifier: Apache-2.0
// Decodes the frames of a video file, as often as they are asked for.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::client {

// Holds the file's bytes, never its frames. Errors are INVALID_ARGUMENT and name the file.
class FrameReader {
 public:
  // Decodes all of it once, to count.
  static absl::StatusOr<FrameReader> Open(const std::string& path);

  // Decodes from the beginning, until `take` returns false for a frame (its number, its picture).
  absl::Status Read(absl::FunctionRef<bool(int, model::RgbImage)> take) const;

  int frames() const { return frames_; }
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  std::string path_, bytes_;
  int frames_ = 0, width_ = 0, height_ = 0;
};

}  // namespace reel::client
