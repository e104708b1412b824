// SPDX-License-Identifier: Apache-2.0
// Bodies of OTLP/HTTP, in JSON: opentelemetry-proto's ExportTraceServiceRequest, and its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/front/traces/span.h"

namespace reel::front {

// The server that the spans are of.
struct TraceResource {
  std::string version;
  std::string instance;  // the replica; empty: not said
};

std::string OtlpJson(const std::vector<Trace>& traces, const TraceResource& resource);

// What a collector says that has taken a request: that it left some of the spans out.
struct OtlpReply {
  int64_t rejected_spans = 0;
  std::string message = {};  // its reason, cut to a line of the log
};

// Of an ExportTraceServiceResponse; a text that is none rejects nothing.
OtlpReply ReadOtlpReply(const std::string& text);

}  // namespace reel::front
