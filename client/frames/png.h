// SPDX-License-Identifier: Apache-2.0
// Writes a picture as a PNG file.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/frame_sink.h"

namespace reel::client {

// The bytes of the file. Errors are INTERNAL.
absl::StatusOr<std::string> EncodePng(const model::RgbImage& image);

}  // namespace reel::client
