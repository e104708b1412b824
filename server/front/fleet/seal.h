// SPDX-License-Identifier: Apache-2.0
// Encryption of what callers wrote, for places that others can read. A text is bound to the name
// under which it lies: it opens only with the fleet's key, unchanged and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

// The keys of a fleet. A value; without a key it leaves everything as it is.
class Seal {
 public:
  static constexpr size_t kKeyBytes = 32;
  // What sealed bytes are longer by.
  static constexpr int64_t kOverhead = 6 + 8 + 12 + 16;

  Seal() = default;
  // Keys of kKeyBytes: the first seals, all of them open.
  explicit Seal(const std::vector<std::string>& keys);

  bool enabled() const { return !keys_.empty(); }
  // By which servers tell each other which keys they have, and which says nothing of a key: 16 hex
  // digits each, of the one that seals first.
  std::vector<std::string> Ids() const;

  // The same bytes under the same name are sealed alike, so that they can be stored again.
  std::string Close(std::string_view bytes, std::string_view name) const;
  // Of bytes that nobody sealed these. FAILED_PRECONDITION: with a key that is not here; DATA_LOSS:
  // changed, or sealed under another name.
  absl::StatusOr<std::string> Open(std::string_view bytes, std::string_view name) const;
  static bool IsSealed(std::string_view bytes);

  // Replaces a hash from which the hashed text could be guessed. There is one for each key, the
  // sealing key's first, and then the hash itself, as servers without a key have it. `use`: hashes
  // of another use never meet it.
  std::vector<std::string> NamesFor(std::string_view use, std::string_view hash) const;

 private:
  // What is made of a key, for each of its uses.
  struct Key {
    std::string id, encrypts, draws, names;
  };
  std::vector<Key> keys_;
};

}  // namespace reel::front
