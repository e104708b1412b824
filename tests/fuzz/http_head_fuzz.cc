// SPDX-License-Identifier: Apache-2.0
// Any bytes as the beginning of an HTTP connection: refused, not whole yet, or a head of which
// nothing is beyond the limits.
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/front/http/door_message.h"
#include "server/front/http/door_request.h"
#include "server/front/http/media_body.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view received(reinterpret_cast<const char*>(data), size);
  (void)reel::front::ReadKnown(std::string(received), "after limit order");
  (void)reel::front::ReadNumber("after_sequence", received);  // a Last-Event-ID, too
  const auto range = reel::front::ParseByteRange(received);
  if (range && (range->first < 0 || (range->last && *range->last < range->first))) std::abort();
  const auto end = reel::front::FindHeadEnd(received);
  if (!end.ok() || *end == 0) return 0;
  if (*end > size) std::abort();
  const auto head = reel::front::ParseDoorHead(received.substr(0, *end));
  if (!head.ok()) return 0;
  const reel::front::BodyAhead body = reel::front::BodyOf(*head);
  if (body.length < 0 || (body.chunked && body.length > 0)) std::abort();
  (void)reel::front::ExpectsContinue(*head);
  (void)reel::front::KeepsAlive(*head);
  std::string request_id;
  if (reel::front::TakeRequestKey(*head, request_id).ok() && request_id.size() > 36) std::abort();
  return 0;
}
