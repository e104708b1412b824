// SPDX-License-Identifier: Apache-2.0
// Applies the rules of the configuration's fields (proto/reel/config/v1/rules.proto) to a message:
// defaults, bounds, and the formats of texts and names.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reel/config/v1/rules.pb.h"

namespace reel::front {

// The characters that names of models, workers, tenants and the like may have.

// True for [a-z0-9][a-z0-9._-]{0,62}.
bool IsLegalName(std::string_view name);

// The replica in names of videos: [a-z0-9]{1,16}.
bool IsLegalReplica(std::string_view replica);

// The formats of the configuration's texts (proto/reel/config/v1/rules.proto).

// Says what is wrong, with `text` behind it; empty: nothing is. `longest` bounds a name's
// characters; 0: as for all names.
std::string WrongFormat(config::v1::Format format, const std::string& text, int longest = 0);

// Empty: `text` is one of `legal`; else what is wrong, with the nearest of them.
std::string NotOneOf(const std::string& text, const std::vector<std::string>& legal);

// Applies the rules of the configuration's fields (proto/reel/config/v1/rules.proto) to a message.

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
