// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/page_token.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "kernels/base/digest/crc32c.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

// Version, filter as a set of bits, nanoseconds since the epoch, checksum; then the id.
#pragma pack(push, 1)
struct Head {
  uint8_t version;
  uint8_t filter;
  int64_t nanos;
  uint32_t checksum;  // over everything else
};
#pragma pack(pop)

constexpr uint8_t kVersion = 1;
constexpr size_t kMaxIdBytes = 64;
constexpr size_t kMaxTokenBytes = 2 * (sizeof(Head) + kMaxIdBytes);

uint8_t Bits(const std::vector<VideoState>& filter) {
  unsigned bits = 0;
  for (const VideoState state : filter) bits |= 1U << static_cast<unsigned>(state);
  return static_cast<uint8_t>(bits);
}

// The checksum is against accidents, not attackers: a position shows only what a tenant may list.
uint32_t Checksum(Head head, std::string_view id) {
  head.checksum = 0;
  std::string all(reinterpret_cast<const char*>(&head), sizeof head);
  all += id;
  return Crc32c(all);
}

absl::Status Bad(std::string_view why) {
  return MakeInvalid(Reason::kInvalidRequest, {{"page_token", std::string(why)}});
}

}  // namespace

std::string MakePageToken(const PagePosition& position, const std::vector<VideoState>& filter) {
  Head head{kVersion, Bits(filter), absl::ToUnixNanos(position.time), 0};
  head.checksum = Checksum(head, position.id);
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += position.id;
  std::string token;
  absl::WebSafeBase64Escape(bytes, &token);
  return token;
}

absl::StatusOr<PagePosition> ParsePageToken(std::string_view token,
                                            const std::vector<VideoState>& filter) {
  std::string bytes;
  Head head{};
  const bool ours =
      token.size() <= kMaxTokenBytes &&
      absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &bytes) &&
      bytes.size() > sizeof head && bytes.size() <= sizeof head + kMaxIdBytes;
  if (!ours) return Bad("is not a token of this server; pass next_page_token on unchanged");
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::string id = bytes.substr(sizeof head);
  if (head.version != kVersion || head.checksum != Checksum(head, id)) {
    return Bad("is not a token of this server; pass next_page_token on unchanged");
  }
  if (head.filter != Bits(filter)) {
    return Bad("belongs to a list with other states; repeat the states of the first page");
  }
  return PagePosition{absl::FromUnixNanos(head.nanos), id};
}

}  // namespace reel::front
