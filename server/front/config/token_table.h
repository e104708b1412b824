// SPDX-License-Identifier: Apache-2.0
// The tokens file: callers by the hashes of their tokens. The tokens themselves are not kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::front {

// Each may do what the ones before it may.
enum class Role { kViewer, kUser, kAdmin };

struct Principal {
  std::string tenant;
  Role role = Role::kViewer;
};

// Immutable; safe to share between threads.
class TokenTable {
 public:
  // Lines "sha256-of-token tenant role"; empty lines and # comments are skipped. Every bad line is
  // named (never its hash).
  static absl::StatusOr<TokenTable> Parse(std::string_view text);
  // The file must be readable by its owner alone.
  static absl::StatusOr<TokenTable> Load(const std::string& path);

  // Nullptr for an unknown token. Takes the same time for every token: each row is compared, and
  // every comparison looks at all bytes.
  const Principal* Find(std::string_view token) const;
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::array<uint8_t, 32> sha256{};
    Principal principal;
  };
  std::vector<Row> rows_;
};

}  // namespace reel::front
