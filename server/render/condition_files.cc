// SPDX-License-Identifier: Apache-2.0
#include "server/render/condition_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::render {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path, ": ", error.message()));
  }
  if (size > static_cast<uintmax_t>(max_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("A condition is too large: ", path, ": ", size, " bytes, above ", max_bytes));
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad() || bytes.size() != size) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path));
  }
  return bytes;
}

// Pictures tell themselves; an MP4's first box is its type.
model::Condition::Kind KindOf(const std::string& bytes) {
  const bool is_clip = bytes.size() > 12 && bytes.compare(4, 4, "ftyp") == 0;
  return is_clip ? model::Condition::Kind::kVideo : model::Condition::Kind::kImage;
}

}  // namespace

model::RequestLimits RenderLimits() {
  model::RequestLimits limits;
  limits.max_conditions = 64;
  limits.max_condition_bytes = int64_t{1} << 30;
  limits.max_condition_pixels = 200'000'000;
  return limits;
}

absl::Status ReadConditionFiles(RenderOptions& options) {
  for (const ConditionFile& file : options.conditions) {
    REEL_ASSIGN_OR_RETURN(std::string bytes,
                          ReadFile(file.path, RenderLimits().max_condition_bytes));
    model::Condition condition;
    condition.kind = KindOf(bytes);
    condition.frame_index = file.frame_index;
    condition.strength = file.strength;
    condition.size_bytes = static_cast<int64_t>(bytes.size());
    condition.bytes = std::make_shared<const std::string>(std::move(bytes));
    options.spec.conditions.push_back(std::move(condition));
  }
  return absl::OkStatus();
}

}  // namespace reel::render
