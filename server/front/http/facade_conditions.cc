// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_conditions.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/http/facade_files.h"

namespace reel::front {
namespace {

const char* FacadeFieldOf(bool is_reference) {
  return is_reference ? kReferenceVideo.name : kInputReference.name;
}

bool IsOfAPath(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Replaces "conditions[INDEX]" with what belongs to its path on both sides.
std::string Replaced(std::string text, size_t index, const std::string& field) {
  constexpr std::string_view kBefore = "spec.";
  const std::string path = absl::StrCat("conditions[", index, "]");
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    size_t begin = at, end = at + path.size();
    if (begin >= kBefore.size() && text.substr(begin - kBefore.size(), kBefore.size()) == kBefore) {
      begin -= kBefore.size();
    }
    if (end + 1 < text.size() && text[end] == '.' && IsOfAPath(text[end + 1])) {
      for (++end; end < text.size() && IsOfAPath(text[end]);) ++end;
    }
    text.replace(begin, end - begin, field);
    at = begin + field.size();
  }
  return text;
}

// Replaces the path of all conditions together: a model may take none.
std::string ReplacedWhole(std::string text, const std::string& field) {
  constexpr std::string_view kPath = "spec.conditions";
  for (size_t at = text.find(kPath); at != std::string::npos; at = text.find(kPath, at)) {
    const size_t end = at + kPath.size();
    const bool goes_on = end < text.size() && (text[end] == '[' || IsOfAPath(text[end]));
    if (!goes_on) text.replace(at, kPath.size(), field);
    at += goes_on ? kPath.size() : field.size();
  }
  return text;
}

}  // namespace

ConditionFields FieldsOf(const v1::VideoSpec& spec) {
  ConditionFields fields;
  for (const v1::Condition& condition : spec.conditions()) {
    fields.emplace_back(FacadeFieldOf(condition.use() == v1::CONDITION_USE_REFERENCE));
  }
  return fields;
}

ConditionFields FieldsOf(const model::GenerationSpec& spec) {
  ConditionFields fields;
  for (const model::Condition& condition : spec.conditions) {
    fields.emplace_back(FacadeFieldOf(condition.is_reference()));
  }
  return fields;
}

absl::Status AsSent(const absl::Status& error, const ConditionFields& fields) {
  if (error.ok() || fields.empty()) return error;
  return WithFieldNames(error, [&](std::string_view text) {
    std::string named = ReplacedWhole(std::string(text), fields.front());
    for (size_t i = 0; i < fields.size(); ++i) named = Replaced(std::move(named), i, fields[i]);
    return named;
  });
}

}  // namespace reel::front
