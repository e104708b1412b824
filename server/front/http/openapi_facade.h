// SPDX-License-Identifier: Apache-2.0
// Schemas of the OpenAI shape: requests from its words, replies from examples of them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/front/http/door_routes.h"

namespace reel::front {

inline constexpr char kFacadeRequest[] = "openai.CreateVideoRequest";
inline constexpr char kFacadeForm[] = "openai.CreateVideoForm";  // the same as a form
inline constexpr char kFacadeError[] = "openai.Error";
inline constexpr char kNativeError[] = "reel.Error";

void AddFacadeSchemas(nlohmann::json& schemas);

// The name of the schema of the JSON that a route answers with; empty: no JSON of the OpenAI shape.
std::string FacadeReplyOf(DoorRoute route);

}  // namespace reel::front
