// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/form_body.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/front/http/door_json.h"
#include "server/front/http/door_message.h"

namespace reel::front {
namespace {

using Parameters = std::map<std::string, std::string>;

constexpr size_t kMaxBoundary = 70;  // RFC 2046
constexpr size_t kMaxPartHead = 2048;

absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '*';
}

bool IsPlainChar(char c) { return c > ' ' && c < 0x7F && c != ';' && c != '"' && c != ','; }

// Whatever stands between quotes, behind the first one; moves `text` past the last one.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\\' && ++i == text.size()) return std::nullopt;
    value += text[i];
  }
  return std::nullopt;
}

std::optional<std::string> TakeWhile(std::string_view& text, bool (*fits)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), fits);
  const std::string taken(text.begin(), end);
  text.remove_prefix(taken.size());
  return taken.empty() ? std::nullopt : std::optional(taken);
}

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

// "; a=b; c=\"d\"": none for anything else, or a name that comes twice.
std::optional<Parameters> ParseParameters(std::string_view text) {
  Parameters found;
  for (SkipBlanks(text); !text.empty(); SkipBlanks(text)) {
    if (text.front() != ';') return std::nullopt;
    text.remove_prefix(1);
    SkipBlanks(text);
    const auto name = TakeWhile(text, IsNameChar);
    if (!name || text.empty() || text.front() != '=') return std::nullopt;
    text.remove_prefix(1);
    const bool quoted = !text.empty() && text.front() == '"';
    if (quoted) text.remove_prefix(1);
    auto value = quoted ? TakeQuoted(text) : TakeWhile(text, IsPlainChar);
    if (!value || !found.emplace(absl::AsciiStrToLower(*name), *std::move(value)).second) {
      return std::nullopt;
    }
  }
  return found;
}

// "form-data; name=..." to its word and parameters.
std::pair<std::string, std::optional<Parameters>> ParseValue(std::string_view text) {
  const size_t word = std::min(text.find(';'), text.size());
  return {absl::AsciiStrToLower(absl::StripAsciiWhitespace(AbslView(text.substr(0, word)))),
          ParseParameters(text.substr(word))};
}

absl::StatusOr<FormPart> ParsePart(std::string_view part) {
  const size_t end = part.substr(0, kMaxPartHead).find("\r\n\r\n");
  if (end == std::string_view::npos) return Undecodable("a part of the form has no head");
  FormPart found;
  bool named = false;
  for (const absl::string_view line : absl::StrSplit(AbslView(part.substr(0, end)), "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    const std::string name = absl::AsciiStrToLower(field.first);
    // Nobody sends one, and the bytes would be other ones.
    if (name == "content-transfer-encoding") return Undecodable("a part of the form is encoded");
    if (name != "content-disposition") continue;
    const auto [kind, parameters] = ParseValue({field.second.data(), field.second.size()});
    if (named || kind != "form-data" || !parameters || parameters->count("name") == 0) {
      return Undecodable("a part of the form must have one Content-Disposition with its name");
    }
    named = true;
    found.name = parameters->at("name");
    found.file = parameters->count("filename") + parameters->count("filename*") > 0;
  }
  if (!named) return Undecodable("a part of the form has no name");
  found.value = std::string(part.substr(end + 4));
  return found;
}

absl::StatusOr<std::vector<FormPart>> ParseMultipart(const std::string& boundary,
                                                     std::string_view body) {
  const std::string line = "--" + boundary;
  if (body.substr(0, line.size()) != line) {
    return Undecodable("the form does not begin with its boundary");
  }
  body.remove_prefix(line.size());
  std::vector<FormPart> parts;
  while (body.substr(0, 2) == "\r\n") {
    body.remove_prefix(2);
    const size_t end = body.find("\r\n" + line);
    if (end == std::string_view::npos) return Undecodable("the form has no end");
    if (static_cast<int>(parts.size()) == kMaxFormParts) {
      return Undecodable(absl::StrCat("the form has more than ", kMaxFormParts, " parts"));
    }
    auto part = ParsePart(body.substr(0, end));
    if (!part.ok()) return part.status();
    parts.push_back(*std::move(part));
    body.remove_prefix(end + 2 + line.size());
  }
  if (body != "--" && body != "--\r\n")
    return Undecodable("the form does not end with its boundary");
  return parts;
}

absl::StatusOr<std::vector<FormPart>> ParseUrlencoded(std::string_view body) {
  auto fields = ParseQuery(body);
  if (!fields) return Undecodable("it is not NAME=VALUE, joined by '&', encoded with %");
  if (fields->size() > static_cast<size_t>(kMaxFormParts)) {
    return Undecodable(absl::StrCat("the form has more than ", kMaxFormParts, " fields"));
  }
  std::vector<FormPart> parts;
  for (auto& [name, value] : *fields) parts.push_back({std::move(name), std::move(value)});
  return parts;
}

}  // namespace

BodyType BodyTypeOf(std::string_view content_type) {
  const std::string word = ParseValue(content_type).first;
  if (word == "application/json") return BodyType::kJson;
  if (word == "application/x-www-form-urlencoded") return BodyType::kUrlencoded;
  return word == "multipart/form-data" ? BodyType::kMultipart : BodyType::kOther;
}

absl::StatusOr<std::vector<FormPart>> ParseFormBody(std::string_view content_type,
                                                    std::string_view body) {
  absl::StatusOr<std::vector<FormPart>> parts;
  if (BodyTypeOf(content_type) == BodyType::kUrlencoded) {
    parts = ParseUrlencoded(body);
  } else {
    const auto parameters = ParseValue(content_type).second;
    const bool bounded = parameters && parameters->count("boundary") > 0;
    const std::string boundary = bounded ? parameters->at("boundary") : "";
    if (boundary.empty() || boundary.size() > kMaxBoundary) {
      return Undecodable("multipart/form-data needs a boundary of 1 to 70 characters");
    }
    parts = ParseMultipart(boundary, body);
  }
  if (!parts.ok()) return parts;
  for (const FormPart& part : *parts) {
    if (!IsUtf8(part.name) || (!part.file && !IsUtf8(part.value))) {
      return Undecodable("a text of the form is not UTF-8");
    }
  }
  return parts;
}

}  // namespace reel::front
