// SPDX-License-Identifier: Apache-2.0
// Headers that the broker gives to messages.
#pragma once

#include <string>

#include "server/front/fleet/nats_handles.h"

namespace reel::front {

inline constexpr char kMessageIdHeader[] = "Nats-Msg-Id";
// Of the copies that it sends of what it has stored.
inline constexpr char kSequenceHeader[] = "Nats-Sequence";
inline constexpr char kSubjectHeader[] = "Nats-Subject";

// Empty: it has none.
inline std::string HeaderOf(natsMsg& message, const char* name) {
  const char* value = nullptr;
  if (natsMsgHeader_Get(&message, name, &value) != NATS_OK || value == nullptr) return "";
  return value;
}

}  // namespace reel::front
