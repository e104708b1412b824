// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_message.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

struct Phrase {
  int status;
  const char* text;
};
constexpr Phrase kPhrases[] = {{200, "OK"},
                               {204, "No Content"},
                               {206, "Partial Content"},
                               {400, "Bad Request"},
                               {401, "Unauthorized"},
                               {403, "Forbidden"},
                               {404, "Not Found"},
                               {405, "Method Not Allowed"},
                               {408, "Request Timeout"},
                               {409, "Conflict"},
                               {412, "Precondition Failed"},
                               {413, "Content Too Large"},
                               {415, "Unsupported Media Type"},
                               {416, "Range Not Satisfiable"},
                               {417, "Expectation Failed"},
                               {429, "Too Many Requests"},
                               {431, "Request Header Fields Too Large"},
                               {499, "Client Closed Request"},
                               {500, "Internal Server Error"},
                               {503, "Service Unavailable"},
                               {504, "Gateway Timeout"},
                               {505, "HTTP Version Not Supported"}};

const char* PhraseOf(int status) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) return phrase.text;
  }
  return "Error";
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool Decode(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return true;
}

}  // namespace

std::string_view DoorHead::Find(std::string_view name) const {
  for (const DoorField& field : fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

int DoorHead::Count(std::string_view name) const {
  return static_cast<int>(std::count_if(
      fields.begin(), fields.end(), [name](const DoorField& field) { return field.name == name; }));
}

DoorReply JsonReply(std::string json) {
  DoorReply reply;
  reply.Add("Content-Type", "application/json");
  reply.Add("Cache-Control", "no-store");
  reply.body = std::move(json);
  return reply;
}

std::string WriteHead(const DoorReply& reply, BodyFraming framing, int64_t length) {
  std::string text = absl::StrCat("HTTP/1.1 ", reply.status, " ", PhraseOf(reply.status), "\r\n");
  for (const DoorField& field : reply.fields) {
    absl::StrAppend(&text, field.name, ": ", field.value, "\r\n");
  }
  absl::StrAppend(&text, "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n");
  if (framing == BodyFraming::kLength) absl::StrAppend(&text, "Content-Length: ", length, "\r\n");
  if (framing == BodyFraming::kChunked) absl::StrAppend(&text, "Transfer-Encoding: chunked\r\n");
  if (reply.close) absl::StrAppend(&text, "Connection: close\r\n");
  return text + "\r\n";
}

std::string WriteChunk(std::string_view bytes) {
  return absl::StrCat(absl::Hex(bytes.size()), "\r\n",
                      absl::string_view(bytes.data(), bytes.size()), "\r\n");
}

std::optional<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> found;
  const absl::string_view text(query.data(), query.size());
  for (const absl::string_view part : absl::StrSplit(text, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> entry =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::string name;
    std::string value;
    if (!Decode({entry.first.data(), entry.first.size()}, name) ||
        !Decode({entry.second.data(), entry.second.size()}, value)) {
      return std::nullopt;
    }
    found.emplace_back(std::move(name), std::move(value));
  }
  return found;
}

}  // namespace reel::front
