// SPDX-License-Identifier: Apache-2.0
// The output of --json.
#pragma once

#include <string>

#include "google/protobuf/message.h"

namespace reel::client {

// Protobuf's JSON, on one line; fields with default values are left out, as grpcurl does. Details
// of kinds that this program does not know are left out.
std::string JsonOf(const google::protobuf::Message& message);

// Quoted and escaped.
std::string JsonString(const std::string& text);

}  // namespace reel::client
