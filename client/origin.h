// SPDX-License-Identifier: Apache-2.0
// Reads how an MP4 file was made from the box that says so. Expects hostile bytes.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// What a file with ORIGIN_SPEC says. Its texts have no control characters.
struct Origin {
  std::string build, device, family;
  std::string weights;                         // their SHA-256; empty without a manifest
  std::vector<std::string> adapters;           // in the weights, as texts
  std::map<std::string, std::string> kernels;  // the variant of each operator
  v1::VideoSpec spec;                          // resolved; conditions without their bytes
};

// The text of the box; reads nothing behind the file's head. NOT_FOUND if there is none,
// INVALID_ARGUMENT for bytes that are no MP4 and for a box above 64 KiB.
absl::StatusOr<std::string> FindOrigin(std::istream& file);

// INVALID_ARGUMENT names the broken rule: 64 KiB, a depth of 8, the format, a field.
absl::StatusOr<Origin> ParseOrigin(std::string_view json);

// Both, for a file; errors name it.
absl::StatusOr<Origin> ReadOrigin(const std::string& path);

// What made one file otherwise than the other, beside the request: "build: 0.2.0, now 0.3.0".
std::vector<std::string> Differences(const Origin& before, const Origin& now);

}  // namespace reel::client
