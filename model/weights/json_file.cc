// SPDX-License-Identifier: Apache-2.0
#include "model/weights/json_file.h"

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/mapped_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr int kMaxDepth = 64;  // a document's destructor recurses

}  // namespace

absl::StatusOr<nlohmann::json> ReadJsonFile(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return ParseJson({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
}

absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, const std::string& source,
                                         size_t most_bytes) {
  if (text.size() > most_bytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the JSON is too long: ", source, ": ", text.size(), " bytes, the limit is ", most_bytes));
  }
  bool too_deep = false;
  const auto check_depth = [&too_deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    too_deep |= depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), check_depth, false);
  if (json.is_discarded() || !json.is_object() || too_deep) {
    return absl::FailedPreconditionError(
        absl::StrCat("the JSON is malformed, nested too deeply, or not an object: ", source));
  }
  return json;
}

}  // namespace reel::model
