// SPDX-License-Identifier: Apache-2.0
// Files in requests of the OpenAI videos API that are sent as text: data: URLs. Nothing is fetched.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"

namespace reel::front {

inline constexpr char kInputReference[] = "input_reference";

// The bytes of the URL that is the field's value, or its member `image_url`. NO_REMOTE_INPUT: it is
// no data: URL; INVALID_REQUEST: one that is not in base64.
absl::StatusOr<std::string> BytesOfFacadeFile(const nlohmann::json& value);

// Told by its first bytes; the type that is sent with it is not looked at.
bool IsMp4(const std::string& bytes);

}  // namespace reel::front
