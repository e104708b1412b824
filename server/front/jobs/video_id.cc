// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/video_id.h"

#include <cstdint>
#include <random>

namespace reel::front {
namespace {

constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr int kBits = 128;
constexpr size_t kRandomDigits = (kBits + 4) / 5;
constexpr int kReplicaLetters = 6;

}  // namespace

std::string NewVideoId(const std::string& replica) {
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

std::string_view ReplicaOf(std::string_view id) {
  if (id.size() < kRandomDigits + 2) return {};
  const std::string_view replica = id.substr(0, id.size() - kRandomDigits - 1);
  if (id[replica.size()] != '-') return {};
  const std::string_view random = id.substr(replica.size() + 1);
  const bool ours = random.find_first_not_of(kDigits) == std::string_view::npos;
  return ours ? replica : std::string_view();
}

std::string IdOfName(std::string_view name) {
  constexpr std::string_view kPrefix = "videos/";
  return name.starts_with(kPrefix) ? std::string(name.substr(kPrefix.size())) : std::string();
}

std::string NewReplica() {
  std::random_device source("/dev/urandom");
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string replica;
  for (int i = 0; i < kReplicaLetters; ++i) replica += static_cast<char>(letter(source));
  return replica;
}

}  // namespace reel::front
