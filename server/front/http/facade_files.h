// SPDX-License-Identifier: Apache-2.0
// Files of OpenAI requests: data: URLs, and names of files that were sent ahead. Nothing is
// fetched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "model/resolve.h"
#include "reel/v1/video.pb.h"

namespace reel::front {

// A field that takes a file.
struct FileField {
  const char* name;
  const char* url;  // the member with the URL, if the value is an object
};
// A picture or clip for the video to follow.
inline constexpr FileField kInputReference = {"input_reference", "image_url"};
// A clip that an adapter looks at.
inline constexpr FileField kReferenceVideo = {"reference_video", "video_url"};

inline bool IsFacadeFile(std::string_view name) {
  return name == kInputReference.name || name == kReferenceVideo.name;
}

// The files of one request as its conditions.
class FacadeFiles {
 public:
  // `limits` must live longer.
  explicit FacadeFiles(const model::RequestLimits& limits)
      : limits_(limits), left_(limits.max_condition_bytes) {}

  // A picture or a clip, by its first bytes. INVALID_REQUEST: with the files before it, it is too
  // large for one request.
  absl::StatusOr<v1::Condition> FromBytes(const FileField& field, std::string bytes);
  // From a data: URL, or from the name of a file that was sent ahead. NO_REMOTE_INPUT: the value is
  // neither. INVALID_REQUEST: it is not base64, or too large as above.
  absl::StatusOr<v1::Condition> FromValue(const FileField& field, const nlohmann::json& value);

 private:
  const model::RequestLimits& limits_;
  int64_t left_;
};

}  // namespace reel::front
