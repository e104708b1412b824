// SPDX-License-Identifier: Apache-2.0
// SHA-256, piece by piece or at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace reel {

// Movable; confined to one thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::string_view bytes);
  // Lower-case hex of all bytes so far. Ends the object's use.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Lower-case hex.
std::string Sha256Hex(std::string_view bytes);

}  // namespace reel
