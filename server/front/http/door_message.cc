// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_message.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"

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

namespace {

absl::Status Malformed(std::string_view why) {
  return MakeError(Reason::kMalformedHttp,
                   "This is not an HTTP/1.1 request that is taken here: " + std::string(why));
}

absl::Status TooLarge(std::string_view what) {
  return MakeError(Reason::kMetadataTooLarge,
                   "The request's head is too large: " + std::string(what),
                   {.metadata = {{"what", std::string(what)}}});
}

bool IsTokenChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("!#$%&'*+-.^_`|~", absl::string_view(&c, 1));
}

bool IsToken(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

// Visible ASCII: whoever wants more in a path encodes it.
bool IsTarget(absl::string_view text) {
  return absl::StartsWith(text, "/") &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

absl::Status ParseRequestLine(absl::string_view line, DoorHead& head) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !IsToken(words[0]) || !IsTarget(words[1])) {
    return Malformed("the first line must be METHOD /PATH HTTP/1.1");
  }
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") return Malformed("the version");
  head.http_1_0 = words[2] == "HTTP/1.0";
  head.method = std::string(words[0]);
  const std::pair<absl::string_view, absl::string_view> target =
      absl::StrSplit(words[1], absl::MaxSplits('?', 1));
  head.path = std::string(target.first);
  head.query = std::string(target.second);
  return absl::OkStatus();
}

absl::Status ParseField(absl::string_view line, DoorHead& head) {
  if (line[0] == ' ' || line[0] == '\t') return Malformed("a field that is folded over lines");
  const std::pair<absl::string_view, absl::string_view> field =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  if (!IsToken(field.first) || field.first.size() == line.size()) {
    return Malformed("a field must be NAME: VALUE");
  }
  const bool controls = std::any_of(field.second.begin(), field.second.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
  if (controls) return Malformed("control characters in a field");
  head.fields.push_back(
      {absl::AsciiStrToLower(field.first), std::string(absl::StripAsciiWhitespace(field.second))});
  return absl::OkStatus();
}

absl::Status CheckFraming(const DoorHead& head) {
  const int lengths = head.Count("content-length");
  const int codings = head.Count("transfer-encoding");
  if (lengths > 1 || codings > 1) return Malformed("two fields that tell the body's length");
  if (lengths == 1 && codings == 1) return Malformed("Transfer-Encoding and Content-Length");
  if (head.Count("host") > 1) return Malformed("two Host fields");
  if (lengths == 1) {
    const std::string_view text = head.Find("content-length");
    const bool digits = !text.empty() && text.size() <= 15 &&
                        std::all_of(text.begin(), text.end(),
                                    [](unsigned char c) { return absl::ascii_isdigit(c); });
    if (!digits) return Malformed("Content-Length must be a number");
  }
  if (codings == 0) return absl::OkStatus();
  const std::string_view coding = head.Find("transfer-encoding");
  if (!absl::EqualsIgnoreCase(absl::string_view(coding.data(), coding.size()), "chunked")) {
    return Malformed("the one Transfer-Encoding is chunked");
  }
  if (head.http_1_0) return Malformed("HTTP/1.0 has no chunks");
  if (head.Count("trailer") > 0) return Malformed("trailers are not taken");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<size_t> FindHeadEnd(std::string_view received) {
  const std::string_view looked = received.substr(0, kMaxDoorHeadBytes);
  for (size_t at = 0; (at = looked.find('\n', at)) != std::string_view::npos; ++at) {
    if (at == 0 || looked[at - 1] != '\r') return Malformed("a line must end with CR LF");
    if (at >= 3 && looked.substr(at - 3, 4) == "\r\n\r\n") return at + 1;
  }
  const size_t line = looked.find("\r\n");
  if (line == std::string_view::npos && looked.size() > kMaxRequestLineBytes) {
    return TooLarge("its first line has more than 4 KiB");
  }
  if (received.size() >= kMaxDoorHeadBytes) return TooLarge("more than 8 KiB");
  return 0;
}

absl::StatusOr<DoorHead> ParseDoorHead(std::string_view text) {
  std::vector<absl::string_view> lines =
      absl::StrSplit(absl::string_view(text.data(), text.size()), "\r\n");
  lines.resize(lines.size() - 2);  // the blank line and what follows its end
  if (lines[0].size() > kMaxRequestLineBytes) return TooLarge("its first line has more than 4 KiB");
  DoorHead head;
  REEL_RETURN_IF_ERROR(ParseRequestLine(lines[0], head));
  if (lines.size() - 1 > static_cast<size_t>(kMaxDoorFields)) {
    return TooLarge(absl::StrCat("more than ", kMaxDoorFields, " fields"));
  }
  for (size_t i = 1; i < lines.size(); ++i) REEL_RETURN_IF_ERROR(ParseField(lines[i], head));
  REEL_RETURN_IF_ERROR(CheckFraming(head));
  if (!head.http_1_0 && head.Count("host") == 0) return Malformed("a Host field is needed");
  return head;
}

BodyAhead BodyOf(const DoorHead& head) {
  BodyAhead body;
  body.chunked = head.Count("transfer-encoding") > 0;
  const std::string_view length = head.Find("content-length");
  if (!absl::SimpleAtoi(absl::string_view(length.data(), length.size()), &body.length)) {
    body.length = 0;
  }
  return body;
}

std::string FramingOf(const BodyAhead& body) {
  return absl::StrCat(
      "POST / HTTP/1.1\r\n",
      body.chunked ? "Transfer-Encoding: chunked" : absl::StrCat("Content-Length: ", body.length),
      "\r\n\r\n");
}

bool ExpectsContinue(const DoorHead& head) {
  const std::string_view expect = head.Find("expect");
  return absl::EqualsIgnoreCase(absl::string_view(expect.data(), expect.size()), "100-continue");
}

bool KeepsAlive(const DoorHead& head) {
  const std::string_view connection = head.Find("connection");
  const std::string text = absl::AsciiStrToLower({connection.data(), connection.size()});
  return !head.http_1_0 && !absl::StrContains(text, "close");
}

}  // namespace reel::front
