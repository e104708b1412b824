// SPDX-License-Identifier: Apache-2.0
// One span of a trace as a value, in OpenTelemetry's terms.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace reel::front {

using AttributeValue = std::variant<std::string, int64_t, double, bool>;

struct Attribute {
  std::string key;
  AttributeValue value;
};
using Attributes = std::vector<Attribute>;

struct SpanEvent {
  std::string name;
  absl::Time time;
  Attributes attributes;
};

struct Span {
  std::string trace_id;  // 32 lower-case hex digits
  std::string id;        // 16
  std::string parent;    // 16; empty: none
  std::string name;
  bool at_the_door = false;  // what a caller asked for; else a part of it
  absl::Time start, end;
  Attributes attributes;
  std::vector<SpanEvent> events;
  std::string error;  // why it failed; empty: it did not
};

// What became of one request: the span of the whole, then those of its parts.
using Trace = std::vector<Span>;

}  // namespace reel::front
