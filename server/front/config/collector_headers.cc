// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/collector_headers.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/read_file.h"
#include "server/front/config/secret_file.h"

namespace reel::front {
namespace {

constexpr size_t kMostHeaders = 16;
constexpr int64_t kMostHeaderFileBytes = 16 * 1024;
// They say how the request is framed and what it has, which is not the file's to say.
constexpr const char* kOurs[] = {"Connection",   "Content-Encoding", "Content-Length",
                                 "Content-Type", "Expect",           "Host",
                                 "Trailer",      "Transfer-Encoding"};

bool IsHeaderNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

bool IsHeaderValueChar(char c) { return (c >= ' ' && c < 0x7F) || c == '\t'; }

// Empty: the line is a header.
const char* WhyNoHeader(absl::string_view line) {
  const size_t colon = line.find(':');
  const absl::string_view name = line.substr(0, colon);
  if (colon == absl::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), IsHeaderNameChar)) {
    return "must be NAME: VALUE";
  }
  const bool ours = std::any_of(std::begin(kOurs), std::end(kOurs), [name](const char* taken) {
    return absl::EqualsIgnoreCase(name, taken);
  });
  if (ours) return "has a header that is not the file's to set";
  const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
  if (value.empty()) return "has no value";
  return std::all_of(value.begin(), value.end(), IsHeaderValueChar) ? ""
                                                                    : "has characters beyond ASCII";
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadCollectorHeaders(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMostHeaderFileBytes));
  REEL_RETURN_IF_ERROR(CheckSecretFile(path));
  std::vector<std::string> headers;
  int number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty() || line[0] == '#') continue;
    const absl::string_view problem = WhyNoHeader(line);
    if (!problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, " ", problem, ": ", path));
    }
    headers.emplace_back(line);
  }
  if (headers.empty() || headers.size() > kMostHeaders) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have 1 to ", kMostHeaders, " lines NAME: VALUE: ", path));
  }
  return headers;
}

}  // namespace reel::front
