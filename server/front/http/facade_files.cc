// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_files.h"

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr char kDataUrl[] = "data:";

absl::Status RemoteInput(const FileField& field, const std::string& what) {
  ErrorDetails details;
  details.metadata = {{"field", field.name}};
  details.violations = {{field.name, "must be a file of the form or a data: URL; it is " + what}};
  return MakeError(Reason::kNoRemoteInput,
                   "The server fetches nothing; send the picture or clip itself", details);
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

absl::StatusOr<std::string> BytesOfFacadeFile(const FileField& field, const nlohmann::json& value) {
  const nlohmann::json* url = &value;
  if (value.is_object()) {
    const auto found = value.find(field.url);
    if (found == value.end()) {
      return RemoteInput(field, absl::StrCat("an object without ", field.url));
    }
    url = &*found;
  }
  const bool data = url->is_string() && absl::StartsWith(url->get<std::string>(), kDataUrl);
  if (!data) return RemoteInput(field, "an address, a file's name or a file's id");
  return BytesOfDataUrl(field, url->get<std::string>());
}

}  // namespace reel::front
