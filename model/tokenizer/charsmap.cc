// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/charsmap.h"

#include <cstring>

#include "absl/status/status.h"
#include "model/tokenizer/grapheme.h"
#include "model/tokenizer/utf8.h"

namespace reel::model {
namespace {

// A unit of the double array (darts-clone): label in bits 0..7 and 31, "a value follows" in bit 8,
// offset in bits 10..30. Bit 9 scales the offset by 256. A value unit holds it in bits 0..30.
uint32_t LabelOf(uint32_t unit) { return unit & ((1u << 31) | 0xffu); }
bool HasValue(uint32_t unit) { return ((unit >> 8) & 1u) != 0; }
uint32_t ValueOf(uint32_t unit) { return unit & ((1u << 31) - 1); }
size_t OffsetOf(uint32_t unit) { return size_t{unit >> 10} << ((unit & (1u << 9)) >> 6); }

// The reference checks whole clusters only below this size.
constexpr size_t kLongCluster = 6;

}  // namespace

absl::StatusOr<Charsmap> Charsmap::Parse(std::string_view blob) {
  Charsmap map;
  if (blob.empty()) return map;
  uint32_t trie_bytes = 0;
  if (blob.size() < sizeof(trie_bytes)) {
    return absl::FailedPreconditionError("the charsmap is cut off");
  }
  std::memcpy(&trie_bytes, blob.data(), sizeof(trie_bytes));
  blob.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes > blob.size() || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes == 0) {
    return absl::FailedPreconditionError("the charsmap's trie is cut off");
  }
  map.trie_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(map.trie_.data(), blob.data(), trie_bytes);
  map.replacements_ = std::string(blob.substr(trie_bytes));
  if (!IsValidUtf8(map.replacements_)) {
    return absl::FailedPreconditionError("the charsmap's replacements are not UTF-8");
  }
  return map;
}

std::optional<std::string_view> Charsmap::Replacement(std::string_view text) const {
  if (trie_.empty()) return std::nullopt;
  size_t node = OffsetOf(trie_[0]);
  for (const char c : text) {
    const auto label = static_cast<unsigned char>(c);
    if (label == 0) return std::nullopt;
    node ^= label;
    if (node >= trie_.size() || LabelOf(trie_[node]) != label) return std::nullopt;
    const uint32_t unit = trie_[node];
    node ^= OffsetOf(unit);
    if (!HasValue(unit)) continue;
    if (node >= trie_.size() || ValueOf(trie_[node]) >= replacements_.size()) return std::nullopt;
    const std::string_view replacement(replacements_.c_str() + ValueOf(trie_[node]));
    // A broken map may point into the middle of a character.
    return IsValidUtf8(replacement) ? std::optional(replacement) : std::nullopt;
  }
  return std::nullopt;
}

std::string Charsmap::Normalize(std::string_view text) const {
  std::string normal;
  while (!text.empty()) {
    std::string_view cluster = text.substr(0, FirstClusterBytes(text));
    text.remove_prefix(cluster.size());
    if (cluster.size() < kLongCluster) {
      // The shortest key replaces the whole cluster, with its marks: as in the reference.
      if (const auto replacement = Replacement(cluster)) {
        normal += *replacement;
        continue;
      }
    }
    while (!cluster.empty()) {
      const std::string_view character = cluster.substr(0, FirstCodePoint(cluster).bytes);
      normal += Replacement(character).value_or(character);
      cluster.remove_prefix(character.size());
    }
  }
  return normal;
}

}  // namespace reel::model
