// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/byte_size.h"

#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace reel {

std::optional<int64_t> ParseByteSize(const std::string& text) {
  constexpr double kMost = 1e15;
  constexpr std::pair<const char*, double> kUnits[] = {
      {"GiB", double{1 << 30}}, {"MiB", double{1 << 20}}, {"GB", 1e9}, {"MB", 1e6}};
  absl::string_view number = text;
  double unit = 1;
  for (const auto& [name, bytes] : kUnits) {
    if (!absl::ConsumeSuffix(&number, name)) continue;
    unit = bytes;
    number = absl::StripTrailingAsciiWhitespace(number);
    break;
  }
  double value = 0;
  // SimpleAtod reads signs, spaces, exponents and hexadecimal numbers too.
  if (number.find_first_not_of("0123456789.") != absl::string_view::npos ||
      !absl::SimpleAtod(number, &value)) {
    return std::nullopt;
  }
  const double bytes = value * unit;
  if (!(bytes >= 1 && bytes < kMost)) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::string WhyNotByteSize(const std::string& text) {
  if (ParseByteSize(text).has_value()) return "";
  return absl::StrCat("\"", text, "\" is not a size such as 24GB, 23.5GiB or 800MB");
}

}  // namespace reel
