// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/visible_gpus.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

int NumberOfGpus(const std::string& devices) {
  int count = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(devices, error)) {
    const std::string name = file.path().filename();
    const absl::string_view number =
        absl::StartsWith(name, "nvidia") ? absl::string_view(name).substr(6) : "";
    count += !number.empty() && std::all_of(number.begin(), number.end(),
                                            [](char c) { return absl::ascii_isdigit(c); });
  }
  return count;
}

}  // namespace

int VisibleGpus(const std::string& devices, std::optional<absl::string_view> chosen) {
  const int there = NumberOfGpus(devices);
  if (!chosen) return there;
  int count = 0;
  for (const absl::string_view one : absl::StrSplit(*chosen, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(one);
    int number = -1;
    const bool is_number = absl::SimpleAtoi(name, &number) && number >= 0 && number < there;
    if (!is_number && !absl::StartsWith(name, "GPU-") && !absl::StartsWith(name, "MIG-")) break;
    ++count;
    // Of slices a process sees one.
    if (absl::StartsWith(name, "MIG-")) break;
  }
  return std::min(count, there);
}

}  // namespace reel::front
