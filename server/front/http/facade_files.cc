// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_files.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kernels/base/status_macros.h"
#include "model/content_type.h"
#include "server/errors/error.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {
namespace {

constexpr char kDataUrl[] = "data:";

absl::Status RemoteInput(const FileField& field, const std::string& what) {
  return MakeError(Reason::kNoRemoteInput,
                   "The server fetches nothing; send the picture or clip itself",
                   {.metadata = {{"field", field.name}},
                    .violations = {{field.name,
                                    "must be a file of the form, a data: URL or the name of a "
                                    "file that was sent ahead (files/...); it is " +
                                        what}}});
}

absl::StatusOr<std::string> BytesOfDataUrl(const FileField& field, const std::string& url) {
  const absl::string_view text = url;
  const size_t comma = text.find(',');
  std::string bytes;
  if (comma == absl::string_view::npos || !absl::EndsWith(text.substr(0, comma), ";base64") ||
      !absl::Base64Unescape(text.substr(comma + 1), &bytes)) {
    return MakeInvalid(Reason::kInvalidRequest,
                       {{field.name, "a data URL must be data:TYPE;base64,BYTES"}});
  }
  return bytes;
}

}  // namespace

absl::StatusOr<v1::Condition> FacadeFiles::FromBytes(const FileField& field, std::string bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > left_) {
    const char* instead =
        limits_.max_file_bytes > 0
            ? "send it ahead by POST /reel/v1/files, and here its name (files/...)"
            : "send a smaller one";
    return MakeInvalid(
        Reason::kInvalidRequest,
        {{field.name, absl::StrCat("has ", size, " bytes; a request has room for ",
                                   limits_.max_condition_bytes, " bytes of files: ", instead)}});
  }
  left_ -= size;
  v1::Condition condition;
  const bool is_clip = model::PictureTypeOf(bytes) == "video/mp4";
  *(is_clip ? condition.mutable_video() : condition.mutable_image()) = std::move(bytes);
  return condition;
}

absl::StatusOr<v1::Condition> FacadeFiles::FromValue(const FileField& field,
                                                     const nlohmann::json& value) {
  const nlohmann::json* url = &value;
  if (value.is_object()) {
    const auto found = value.find(field.url);
    if (found == value.end()) {
      return RemoteInput(field, absl::StrCat("an object without ", field.url));
    }
    url = &*found;
  }
  const std::string text = url->is_string() ? url->get<std::string>() : "";
  if (text.starts_with(kFileNamePrefix)) {
    v1::Condition condition;
    condition.set_file(text);
    return condition;
  }
  if (!absl::StartsWith(text, kDataUrl)) {
    return RemoteInput(field, "an address, a file's name or a file's id");
  }
  REEL_ASSIGN_OR_RETURN(std::string bytes, BytesOfDataUrl(field, text));
  return FromBytes(field, std::move(bytes));
}

}  // namespace reel::front
