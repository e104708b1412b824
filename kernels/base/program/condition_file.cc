// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/condition_file.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program/whole_file.h"

namespace reel {

std::optional<ConditionFile> ParseConditionFile(const std::string& text) {
  const size_t at = text.rfind('@');
  ConditionFile file{text.substr(0, at), 0, 1};
  if (file.path.empty()) return std::nullopt;
  if (at == std::string::npos) return file;
  const std::string place = text.substr(at + 1);
  const size_t colon = place.find(':');
  const bool read =
      absl::SimpleAtoi(place.substr(0, colon), &file.frame_index) &&
      (colon == std::string::npos || absl::SimpleAtod(place.substr(colon + 1), &file.strength));
  return read ? std::optional(file) : std::nullopt;
}

std::optional<ConditionFile> ParseReferenceFile(const std::string& text) {
  const size_t colon = text.rfind(':');
  double strength = 1;
  const bool has_strength =
      colon != std::string::npos && absl::SimpleAtod(text.substr(colon + 1), &strength);
  ConditionFile file{has_strength ? text.substr(0, colon) : text, 0, has_strength ? strength : 1};
  return file.path.empty() ? std::nullopt : std::optional(file);
}

absl::StatusOr<std::string> ReadConditionFile(const std::string& path, int64_t max_bytes) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path, ": ", error.message()));
  }
  if (size > static_cast<uintmax_t>(max_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("A condition is too large: ", path, ": ", size, " bytes, above ", max_bytes));
  }
  std::optional<std::string> bytes = ReadWholeFile(path);
  if (!bytes.has_value() || bytes->size() != size) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path));
  }
  return *std::move(bytes);
}

bool IsClip(const std::string& bytes) {
  return bytes.size() > 12 && bytes.compare(4, 4, "ftyp") == 0;
}

}  // namespace reel
