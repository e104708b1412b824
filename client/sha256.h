// SPDX-License-Identifier: Apache-2.0
// The hash of a whole file, fed in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace reel::client {

// Confined to one thread. After Hex() only Reset() may follow.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Reset();
  void Update(std::string_view data);
  std::string Hex();  // lower case, of everything since the last Reset

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace reel::client
