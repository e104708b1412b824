// SPDX-License-Identifier: Apache-2.0
// Files of OpenAI requests that are sent as data: URLs. Other URLs are not fetched.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"

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

// The bytes of a data: URL. NO_REMOTE_INPUT: the value is no such URL; INVALID_REQUEST: it is not
// in base64.
absl::StatusOr<std::string> BytesOfFacadeFile(const FileField& field, const nlohmann::json& value);

}  // namespace reel::front
