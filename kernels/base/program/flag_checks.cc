// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/flag_checks.h"

#include <cstdint>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace reel {

std::string WhyNotSeed(const std::string& text) {
  uint64_t seed = 0;
  if (absl::SimpleAtoi(text, &seed)) return "";
  return absl::StrCat("\"", text, "\" is not a whole number from 0 to ", UINT64_MAX);
}

std::string WhyNotAboveZero(const std::string& text) {
  double value = 0;
  // The conversion reports text that is not a number.
  if (!absl::SimpleAtod(text, &value) || value > 0) return "";
  return absl::StrCat(text, " is not above 0; leave the flag out for the model's default");
}

std::string WhyEmpty(const std::string& text) {
  return text.empty() ? "the text is empty; leave the flag out for the default" : "";
}

std::string WhyNotMp4(const std::string& path) {
  const std::string ending =
      absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
  if (ending.empty() || ending == ".mp4" || ending == ".m4v") return "";
  return absl::StrCat("the file will be an MP4, not ", ending,
                      "; let the name end in .mp4: ", path);
}

}  // namespace reel
