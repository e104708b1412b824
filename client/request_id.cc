// SPDX-License-Identifier: Apache-2.0
#include "client/request_id.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_format.h"

namespace reel::client {

std::string NewRequestId() {
  std::random_device random;
  const uint32_t a = random(), b = random(), c = random(), d = random();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%04x%08x", a, b >> 16, b & 0xFFF,
                         0x8000 | (c & 0x3FFF), c >> 16, d);
}

}  // namespace reel::client
