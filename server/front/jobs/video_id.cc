// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/video_id.h"

#include <cstdint>
#include <random>

namespace reel::front {

std::string NewVideoId(const std::string& replica) {
  constexpr char kDigits[] = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr int kBits = 128;
  std::random_device source("/dev/urandom");
  std::string id = replica + "-";
  uint64_t bits = 0;
  int have = 0;
  for (int taken = 0; taken < kBits; taken += 5) {
    if (have < 5) {
      bits |= static_cast<uint64_t>(source()) << have;
      have += 32;
    }
    id += kDigits[bits & 31];
    bits >>= 5;
    have -= 5;
  }
  return id;
}

}  // namespace reel::front
