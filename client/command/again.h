// SPDX-License-Identifier: Apache-2.0
// Making a file's video anew: the request that the file says, and how the new file compares.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/origin.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// A file that is to be made anew, as it is before: the new one may replace it.
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
