// SPDX-License-Identifier: Apache-2.0
// Schemas (JSON Schema 2020-12) of the API's messages, and of JSON of which there are examples.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace google::protobuf {
class Descriptor;
}

namespace reel::front {

nlohmann::json SchemaReference(const std::string& name);

// Adds the message and all that it holds to `schemas`, by their full names; gives the reference.
nlohmann::json AddMessageSchema(const google::protobuf::Descriptor& type, nlohmann::json& schemas);

// Of what all of `examples` are: members that every one has are required, a member that is null in
// one may be null. A list is told by its elements, of all examples together.
nlohmann::json SchemaOfExamples(const std::vector<nlohmann::json>& examples);

}  // namespace reel::front
