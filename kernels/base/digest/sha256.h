// SPDX-License-Identifier: Apache-2.0
// Computes SHA-256, incrementally or at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

namespace reel {

using Sha256Digest = std::array<uint8_t, 32>;

// Movable; used by one thread at a time. After Digest() or Hex() only Reset() may follow.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Reset();
  void Update(std::string_view bytes);
  // The digest of everything since the last Reset.
  Sha256Digest Digest();
  std::string Hex();  // lower case

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Sha256Digest Sha256Of(std::string_view bytes);
std::string Sha256Hex(std::string_view bytes);  // lower case

// Whether the text is a SHA-256 hash in lower-case hex.
inline bool IsSha256Hex(std::string_view text) {
  constexpr size_t kDigits = 2 * std::tuple_size_v<Sha256Digest>;
  return text.size() == kDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace reel
