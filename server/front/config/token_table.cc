// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/token_table.h"

#include <openssl/crypto.h>

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/field_rules.h"
#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

std::optional<Role> ParseRole(const std::string& text) {
  if (text == "viewer") return Role::kViewer;
  if (text == "user") return Role::kUser;
  if (text == "admin") return Role::kAdmin;
  return std::nullopt;
}

bool IsHex(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(std::string_view text) {
  TokenTable table;
  std::vector<std::string> problems;
  int number = 0;
  for (const auto& line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (parts.empty() || parts[0][0] == '#') continue;
    const auto bad = [&](const char* what) {
      problems.push_back(absl::StrCat("line ", number, ": ", what));
    };
    if (parts.size() != 3) {
      bad("needs three words: sha256-of-token tenant role");
      continue;
    }
    const std::optional<Role> role = ParseRole(parts[2]);
    if (parts[0].size() != 64 || !IsHex(parts[0])) {
      bad("the first word must be a SHA-256 in 64 hexadecimal digits");
    } else if (!IsLegalName(parts[1])) {
      bad("the tenant must be made of a-z, 0-9, '.', '_' and '-', at most 63");
    } else if (!role) {
      bad("the role must be viewer, user or admin");
    } else {
      Row row{{}, {parts[1], *role}};
      const std::string bytes = absl::HexStringToBytes(parts[0]);
      std::copy(bytes.begin(), bytes.end(), row.sha256.begin());
      table.rows_.push_back(std::move(row));
    }
  }
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return table;
}

absl::StatusOr<TokenTable> TokenTable::Load(const std::string& path) {
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  return Parse(text);
}

const Principal* TokenTable::Find(std::string_view token) const {
  const Sha256Digest hash = Sha256Of(token);
  const Principal* found = nullptr;
  for (const Row& row : rows_) {
    if (CRYPTO_memcmp(row.sha256.data(), hash.data(), hash.size()) == 0) found = &row.principal;
  }
  return found;
}

}  // namespace reel::front
