// SPDX-License-Identifier: Apache-2.0
// Encrypts callers' texts for storage that others can read. A text is bound to the name under which
// it is stored: it opens only with the fleet's key, unchanged and under that name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

// The keys of a fleet. Without a key it leaves all bytes as they are.
class Seal {
 public:
  static constexpr size_t kKeyBytes = 32;
  // Number of bytes that sealing adds.
  static constexpr int64_t kOverhead = 6 + 8 + 12 + 16;

  Seal() = default;
  // `keys` have kKeyBytes each; the first one seals, all of them open.
  explicit Seal(const std::vector<std::string>& keys);

  bool enabled() const { return !keys_.empty(); }
  // Identifiers by which servers tell each other which keys they have, without revealing them: 16
  // hex digits each, the sealing key's first.
  std::vector<std::string> Ids() const;

  // Deterministic: the same bytes under the same name give the same result, so that they can be
  // stored again.
  std::string Close(std::string_view bytes, std::string_view name) const;
  // Returns unsealed bytes as they are. FAILED_PRECONDITION: sealed with an unknown key. DATA_LOSS:
  // changed, or sealed under another name.
  absl::StatusOr<std::string> Open(std::string_view bytes, std::string_view name) const;
  static bool IsSealed(std::string_view bytes);

  // Names that replace a hash from which the text could be guessed. There is one for each key, the
  // sealing key's first, then the hash itself, as servers without a key use it. Names of different
  // `use` never collide.
  std::vector<std::string> NamesFor(std::string_view use, std::string_view hash) const;

 private:
  // Keys derived from one key, one for each use.
  struct Key {
    std::string id, encrypts, draws, names;
  };
  std::vector<Key> keys_;
};

}  // namespace reel::front
