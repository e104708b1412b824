// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_query.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "server/errors/error.h"
#include "server/front/http/door_message.h"

namespace reel::front {

absl::StatusOr<std::map<std::string, std::string>> ReadKnown(const std::string& query,
                                                             std::string_view names) {
  const std::vector<std::string> legal =
      absl::StrSplit(absl::string_view(names.data(), names.size()), ' ', absl::SkipEmpty());
  const auto fields = ParseQuery(query);
  std::vector<model::FieldViolation> violations;
  if (!fields) violations.push_back({"query", "must be NAME=VALUE, joined by '&', encoded with %"});
  std::map<std::string, std::string> known;
  if (fields) {
    for (const auto& [name, value] : *fields) {
      const bool fits = std::find(legal.begin(), legal.end(), name) != legal.end();
      if (!fits || !known.emplace(name, value).second) {
        violations.push_back({name, fits ? "must be given once" : "there is no such field"});
      }
    }
  }
  if (!violations.empty()) return MakeInvalid(Reason::kInvalidRequest, violations);
  return known;
}

absl::StatusOr<uint64_t> ReadNumber(std::string_view name, std::string_view text) {
  uint64_t number = 0;
  if (text.empty() || absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number)) {
    return number;
  }
  return MakeInvalid(Reason::kInvalidRequest,
                     {{std::string(name), "must be a number, not negative"}});
}

}  // namespace reel::front
