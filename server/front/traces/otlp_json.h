// SPDX-License-Identifier: Apache-2.0
// Spans as the body of an OTLP/HTTP request, in JSON: opentelemetry-proto's
// ExportTraceServiceRequest.
#pragma once

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

}  // namespace reel::front
