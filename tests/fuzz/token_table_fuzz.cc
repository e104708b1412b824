// SPDX-License-Identifier: Apache-2.0
// Any bytes as a table of tokens: it is refused, or knows nobody who has no token.
#include <cstdlib>
#include <string_view>

#include "server/front/config/token_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = reel::front::TokenTable::Parse(text);
  // Of 32 bytes, none of a corpus: the hash of another token would have to be found.
  if (table.ok() && table->Find("a token that was given to nobody") != nullptr) std::abort();
  return 0;
}
