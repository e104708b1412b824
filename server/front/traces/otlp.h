// SPDX-License-Identifier: Apache-2.0
// Spans of traces as values, and the bodies of OTLP/HTTP that carry them, in JSON, as gzip streams.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace reel::front {

// In OpenTelemetry's terms.
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

// The server that the spans are of.
struct TraceResource {
  std::string version;
  std::string instance;  // the replica; empty: not said
};

// An ExportTraceServiceRequest.
std::string OtlpJson(const std::vector<Trace>& traces, const TraceResource& resource);

// What a collector says that has taken a request: that it left some of the spans out.
struct OtlpReply {
  int64_t rejected_spans = 0;
  std::string message = {};  // its reason, cut to a line of the log
};

// Of an ExportTraceServiceResponse; a text that is none rejects nothing.
OtlpReply ReadOtlpReply(const std::string& text);

// As a gzip stream. Empty where there is no memory for it.
std::string Gzip(const std::string& bytes);

}  // namespace reel::front
