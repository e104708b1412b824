// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/byte_range.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace reel::front {
namespace {

// Larger numbers than a file can have mean its end all the same.
bool ReadDigits(absl::string_view text, int64_t& number) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c);
  });
  if (!digits) return false;
  if (!absl::SimpleAtoi(text, &number)) number = std::numeric_limits<int64_t>::max();
  return true;
}

}  // namespace

std::optional<ByteRange> ParseByteRange(std::string_view field) {
  absl::string_view text(field.data(), field.size());
  const std::pair<absl::string_view, absl::string_view> unit =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (!absl::EqualsIgnoreCase(unit.first, "bytes")) return std::nullopt;
  const absl::string_view set = absl::StripAsciiWhitespace(unit.second);
  if (!absl::StrContains(set, '-')) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(set, absl::MaxSplits('-', 1));
  ByteRange range;
  if (ends.first.empty()) {
    range.suffix = true;
    if (!ReadDigits(ends.second, range.first)) return std::nullopt;
    return range;
  }
  if (!ReadDigits(ends.first, range.first)) return std::nullopt;
  if (ends.second.empty()) return range;
  int64_t last = 0;
  if (!ReadDigits(ends.second, last) || last < range.first) return std::nullopt;
  range.last = last;
  return range;
}

}  // namespace reel::front
