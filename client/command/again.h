// SPDX-License-Identifier: Apache-2.0
// Renders the video of a file again: reads the request from the file, and compares the new file
// with it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/origin.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// A file as it is before the new one, which may replace it.
struct FileBefore {
  std::string path;
  Origin origin;
  std::string sha256;  // of the whole file
};

absl::StatusOr<FileBefore> ReadFileBefore(const std::string& path);

// The request of the file with what `given` sets in place of its own. INVALID_ARGUMENT for a file
// that was made with pictures or clips while none are given: it has their hashes alone.
absl::StatusOr<v1::VideoSpec> SpecAgain(const FileBefore& before, const v1::VideoSpec& given);

// For people: whether the bytes are the same, or what differs from `before`. `given`: the request
// is not quite the file's.
std::string CompareAgain(const FileBefore& before, const v1::Video& video,
                         const absl::StatusOr<Origin>& now, bool given);

}  // namespace reel::client
