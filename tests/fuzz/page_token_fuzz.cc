// SPDX-License-Identifier: Apache-2.0
// Any bytes as the token of a page: it is refused, or names a place that a token can name again.
#include <cstdlib>
#include <string_view>

#include "server/front/api/page_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view token(reinterpret_cast<const char*>(data), size);
  const auto position = reel::front::ParsePageToken(token, {});
  if (!position.ok()) return 0;
  const auto again = reel::front::ParsePageToken(reel::front::MakePageToken(*position, {}), {});
  if (!again.ok() || again->id != position->id || again->time != position->time) std::abort();
  return 0;
}
