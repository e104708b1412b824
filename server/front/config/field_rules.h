// SPDX-License-Identifier: Apache-2.0
// Applies the rules of the configuration's fields (proto/reel/config/v1/rules.proto) to a message.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <vector>

namespace reel::front {

// Gives each unset field its default, also inside messages that are set.
void FillFieldDefaults(google::protobuf::Message& message);

// Everything that breaks the rule of its field, with the path in front as people write it:
// "workers[1].name: is listed twice: 'a'".
std::vector<std::string> FieldProblems(const google::protobuf::Message& message);

// The default as the field's rule writes it; empty: none.
std::string DefaultText(const google::protobuf::Message& message, const std::string& field);

// Of "8192", "100ms" (in seconds) or "8 GiB" (in bytes).
std::optional<double> ParseAmount(const std::string& text);

}  // namespace reel::front
