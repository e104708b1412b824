// SPDX-License-Identifier: Apache-2.0
// The head of an HTTP request, read strictly. What a proxy's parser and ours might read differently
// is refused, so that nobody smuggles a request through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/front/http/door_message.h"

namespace reel::front {

constexpr size_t kMaxRequestLineBytes = 4 * 1024;
constexpr size_t kMaxDoorHeadBytes = 8 * 1024;
constexpr int kMaxDoorFields = 64;

// Length of the head at the start of `received`, with its blank line; 0: not whole yet.
// MALFORMED_HTTP for what can never become one, METADATA_TOO_LARGE above the limits.
absl::StatusOr<size_t> FindHeadEnd(std::string_view received);

// Of a whole head.
absl::StatusOr<DoorHead> ParseDoorHead(std::string_view head);

struct BodyAhead {
  bool chunked = false;
  int64_t length = 0;  // where not chunked
  bool any() const { return chunked || length > 0; }
};
// Of a head that ParseDoorHead took.
BodyAhead BodyOf(const DoorHead& head);
// The client waits for a word before it sends the body.
bool ExpectsContinue(const DoorHead& head);
// The connection may serve another request behind this one.
bool KeepsAlive(const DoorHead& head);

}  // namespace reel::front
