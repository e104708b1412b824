// SPDX-License-Identifier: Apache-2.0
// Files in requests of the OpenAI videos API that are sent as text: data: URLs. Nothing is fetched.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"

namespace reel::front {

// A field that may be a file.
struct FileField {
  const char* name;
  const char* url;  // the member that has its URL where it is an object
};
// A picture or clip that the video's frames follow.
inline constexpr FileField kInputReference = {"input_reference", "image_url"};
// A clip that an adapter looks at.
inline constexpr FileField kReferenceVideo = {"reference_video", "video_url"};

inline bool IsFacadeFile(std::string_view name) {
  return name == kInputReference.name || name == kReferenceVideo.name;
}

// The bytes of the URL that is the field's value, or its member's. NO_REMOTE_INPUT: it is no data:
// URL; INVALID_REQUEST: one that is not in base64.
absl::StatusOr<std::string> BytesOfFacadeFile(const FileField& field, const nlohmann::json& value);

}  // namespace reel::front
