// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_request.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

// A field that says that a body follows.
bool TellsOfBody(absl::string_view line) {
  const std::pair<absl::string_view, absl::string_view> field =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  if (absl::EqualsIgnoreCase(field.first, "transfer-encoding")) return true;
  return absl::EqualsIgnoreCase(field.first, "content-length") &&
         absl::StripAsciiWhitespace(field.second) != "0";
}

}  // namespace

size_t HeadLength(std::string_view received) {
  const size_t end = received.find(kHeadEnd);
  return end == std::string_view::npos ? 0 : end + kHeadEnd.size();
}

std::optional<HttpRequest> ParseHead(std::string_view head) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(absl::string_view(head.data(), head.size()), "\r\n");
  const std::vector<absl::string_view> words = absl::StrSplit(lines.front(), ' ');
  if (words.size() != 3 || words[0].empty() || !absl::StartsWith(words[1], "/") ||
      !absl::StartsWith(words[2], "HTTP/1.")) {
    return std::nullopt;
  }
  HttpRequest request;
  request.method = std::string(words[0]);
  request.path = std::string(words[1].substr(0, words[1].find('?')));
  for (const absl::string_view line : lines) request.has_body |= TellsOfBody(line);
  return request;
}

std::string WriteAnswer(const HttpAnswer& answer, bool with_body) {
  std::string text = absl::StrCat(
      "HTTP/1.1 ", answer.status, " ", ReasonPhrase(answer.status), "\r\nContent-Type: ",
      absl::string_view(answer.content_type.data(), answer.content_type.size()),
      "\r\nContent-Length: ", answer.body.size(), "\r\nConnection: close\r\n");
  if (answer.status == 405) text += "Allow: GET, HEAD\r\n";
  text += "\r\n";
  if (with_body) text += answer.body;
  return text;
}

}  // namespace reel::front
