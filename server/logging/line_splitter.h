// SPDX-License-Identifier: Apache-2.0
// Lines out of a stream of bytes that somebody else prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace reel {

// Bounded: what a worker prints must not fill our memory.
class LineSplitter {
 public:
  static constexpr size_t kMaxLine = 16 << 10;
  using Sink = absl::FunctionRef<void(std::string_view line)>;

  // Hands over each finished line that is not empty; of longer ones the first kMaxLine bytes.
  void Add(std::string_view bytes, Sink sink);
  // The rest, when there will be no more.
  void End(Sink sink);

 private:
  std::string line_;
};

}  // namespace reel
