// SPDX-License-Identifier: Apache-2.0
// The door's OpenAPI 3.1 document: paths from the table of routes, messages from their descriptors,
// the OpenAI shape from its words and from examples of its replies. And the schemas (JSON Schema
// 2020-12) in it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/front/http/door_routes.h"

namespace google::protobuf {
class Descriptor;
}

namespace reel::front {

std::string OpenApiJson(const std::string& version);

nlohmann::json SchemaReference(const std::string& name);

// Adds the message and all that it holds to `schemas`, by their full names; gives the reference.
nlohmann::json AddMessageSchema(const google::protobuf::Descriptor& type, nlohmann::json& schemas);

// Of what all of `examples` are: members that every one has are required, a member that is null in
// one may be null. A list is told by its elements, of all examples together.
nlohmann::json SchemaOfExamples(const std::vector<nlohmann::json>& examples);

// Schemas of the OpenAI shape: requests from its words, replies from examples of them.

inline constexpr char kFacadeRequest[] = "openai.CreateVideoRequest";
inline constexpr char kFacadeForm[] = "openai.CreateVideoForm";  // the same as a form
inline constexpr char kFacadeError[] = "openai.Error";
inline constexpr char kNativeError[] = "reel.Error";

void AddFacadeSchemas(nlohmann::json& schemas);

// The name of the schema of the JSON that a route answers with; empty: no JSON of the OpenAI shape.
std::string FacadeReplyOf(DoorRoute route);

}  // namespace reel::front
