// SPDX-License-Identifier: Apache-2.0
// The names by which one call is found again in logs and traces.
#pragma once

#include <string>
#include <string_view>

#include "server/front/jobs/video.h"

namespace reel::front {

// Metadata by which a node names the tenant for whom it asks another one. Looked at by the listener
// for nodes alone; to all others it says nothing.
inline constexpr char kPeersTenantKey[] = "x-reel-tenant";

// True for 8-4-4-4-12 hexadecimal digits, either case.
bool IsUuid(std::string_view text);
// A random UUID (version 4), lower case.
std::string DrawUuid();
// The same UUID for the same text (version 5), lower case.
std::string UuidOfName(std::string_view name);

// The trace id of a W3C traceparent header (32 lower-case hex digits); empty when the header is
// invalid, which is then as if it were not there.
std::string TraceIdOf(std::string_view traceparent);
// The span that the header names, and whether the caller records its trace; nothing of an invalid
// one.
CallerSpan CallerSpanOf(std::string_view traceparent);
// Random, not all zero.
std::string DrawTraceId();

}  // namespace reel::front
