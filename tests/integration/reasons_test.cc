// SPDX-License-Identifier: Apache-2.0
// Every reason of server/errors is heard from a running server, or it stands here why it is not.
#include "tests/integration/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "server/errors/reason.h"

namespace reel::tests {
namespace {

using ::testing::IsSupersetOf;

struct Part {
  const char* name;
  Reasons (*heard)();
  Reasons expected;
};

void PrintTo(const Part& part, std::ostream* out) { *out << part.name; }

std::vector<Part> Parts() {
  return {
      {"Requests",
       OfRequests,
       {"INVALID_SPEC", "INVALID_REQUEST", "UNKNOWN_KERNEL", "MODEL_NOT_FOUND", "SERVICE_NOT_FOUND",
        "VIDEO_NOT_FOUND", "WORKER_NOT_FOUND", "METADATA_TOO_LARGE", "UNDECODABLE_REQUEST",
        "REQUEST_NOT_RECEIVED"}},
      {"Videos",
       OfVideos,
       {"WRONG_REPLICA", "VIDEO_EXPIRED", "REQUEST_ID_CONFLICT", "VIDEO_NOT_READY",
        "VIDEO_NOT_FINAL", "OFFSET_PAST_END", "CANCELLED_BY_OWNER", "OWNER_LEFT", "MEDIA_CORRUPT",
        "STATE_GONE", "FILE_NOT_FOUND"}},
      {"Callers", OfCallers, {"UNAUTHENTICATED", "PERMISSION_DENIED", "TENANT_QUOTA"}},
      {"Http",
       OfHttp,
       {"MALFORMED_HTTP", "HOST_REFUSED", "ORIGIN_REFUSED", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED",
        "BODY_TOO_LARGE", "BODY_TYPE", "OTHER_ATTEMPT", "NO_REMOTE_INPUT"}},
      {"Capacity",
       OfCapacity,
       {"STORE_FULL", "QUEUE_FULL", "SERVER_DRAINING", "NO_DEVICE", "MODEL_NOT_READY",
        "DEADLINE_UNREACHABLE", "DEADLINE_PASSED", "TOO_LARGE_FOR_DEVICE"}},
      {"Faults",
       OfFaults,
       {"OUT_OF_DEVICE_MEMORY", "NUMERICAL_FAULT", "WORKER_LOST", "WORKER_FAULT",
        "SHAPE_QUARANTINED"}},
      {"Models", OfModels, {"MODEL_UNLOADED", "MODEL_REPLACED", "KERNEL_UNAVAILABLE"}},
  };
}

struct Unreached {
  const char *reason, *why, *test;
};

// What no client can bring about on purpose, and the test that holds it below the server.
constexpr Unreached kUnreached[] = {
    {"NO_ANSWER", "reeld would have to stand still for ten seconds while its door does not",
     "door_server_test"},
    {"FLEET_UNAVAILABLE", "it takes a broker, which not every machine has", "fleet_servers_test"},
    {"ADAPTER_CHANGED", "it takes a model with room for adapters", "assignment_test"},
    {"ADAPTER_BROKEN", "likewise", "request_adapters_test"},
    {"ADAPTER_NOT_FOR_MODEL", "likewise", "request_adapters_test"},
    {"ENCODER_FAULT", "libav would have to fail at frames of a legal size", "worker_link_test"},
    {"STATE_NOT_FOR_MODEL", "a model would have to be replaced by one of other weights",
     "engine_test"},
    {"INTERNAL", "a mistake of ours would have to be built in", "shown_error_test"},
};

class ReasonsOf : public ::testing::TestWithParam<Part> {};

TEST_P(ReasonsOf, AreHeard) {
  const Part& part = GetParam();
  EXPECT_THAT(part.heard(), IsSupersetOf(part.expected));
}

INSTANTIATE_TEST_SUITE_P(Running, ReasonsOf, ::testing::ValuesIn(Parts()),
                         [](const auto& part) { return std::string(part.param.name); });

TEST(ReasonTable, EachIsReachedOrItIsSaidWhyNot) {
  Reasons known;
  size_t reached = 0;
  for (const Part& part : Parts()) {
    for (const std::string& reason : part.expected) EXPECT_TRUE(known.insert(reason).second);
  }
  reached = known.size();
  for (const Unreached& row : kUnreached) EXPECT_TRUE(known.insert(row.reason).second);
  Reasons table;
  for (const ReasonRow& row : AllReasons()) table.emplace(row.name);
  EXPECT_EQ(known, table);
  std::cout << "FIGURE " << reached << " of " << table.size()
            << " reasons are heard from running servers\n";
}

}  // namespace
}  // namespace reel::tests
