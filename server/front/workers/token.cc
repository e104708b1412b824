// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/token.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

#include "absl/strings/escaping.h"

namespace reel::front {

std::string MakeToken() {
  std::array<char, 32> bytes;
  // Cannot fail for so few bytes once the system is up; without randomness there is no safe way on.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return absl::BytesToHexString({bytes.data(), bytes.size()});
}

bool TokensEqual(std::string_view a, std::string_view b) {
  return !a.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace reel::front
