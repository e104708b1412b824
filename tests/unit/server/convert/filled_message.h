// SPDX-License-Identifier: Apache-2.0
// Fills every field of a message with a value other than its default, by reflection. A field that
// is added later is filled too, and fails the round trip of a conversion that forgets it.
#pragma once

#include <string>

#include "google/protobuf/message.h"

namespace reel {

// Repeated fields get two elements; in messages with a oneof the two take different members of it.
// Enums take their last value.
void Fill(google::protobuf::Message& message);

// Empty when equal; else what differs.
std::string Difference(const google::protobuf::Message& expected,
                       const google::protobuf::Message& actual);

}  // namespace reel
