// SPDX-License-Identifier: Apache-2.0
// The door's OpenAPI 3.1 document: paths from the table of routes, messages from their
// descriptors, the OpenAI shape from its words and from examples of its replies.
#pragma once

#include <string>

namespace reel::front {

std::string OpenApiJson(const std::string& version);

}  // namespace reel::front
