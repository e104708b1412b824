// SPDX-License-Identifier: Apache-2.0
// Writes messages as JSON, for --json.
#pragma once

#include <string>

#include "google/protobuf/message.h"

namespace reel::client {

// Protobuf's JSON on one line, without default values, as grpcurl prints it. Details of unknown
// types are left out.
std::string JsonOf(const google::protobuf::Message& message);

// Quotes and escapes a string.
std::string JsonString(const std::string& text);

}  // namespace reel::client
