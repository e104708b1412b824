// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_conditions.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "server/errors/error.h"
#include "server/front/http/facade_files.h"

namespace reel::front {
namespace {

const char* FacadeFieldOf(bool is_reference) {
  return is_reference ? kReferenceVideo.name : kInputReference.name;
}

bool IsOfAPath(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Takes "[INDEX]" and the field of a condition behind it from the beginning of `rest`.
bool ConsumeIndex(std::string_view& rest, size_t& index) {
  const size_t end = rest.find(']');
  if (!rest.starts_with('[') || end == std::string_view::npos) return false;
  if (!absl::SimpleAtoi(absl::string_view(rest.data() + 1, end - 1), &index)) return false;
  rest.remove_prefix(end + 1);
  if (rest.size() > 1 && rest[0] == '.' && IsOfAPath(rest[1])) {
    do rest.remove_prefix(1);
    while (!rest.empty() && IsOfAPath(rest[0]));
  }
  return true;
}

// Replaces the paths of conditions: "conditions[1].file", with or without "spec." before it, and
// "spec.conditions", which is about all of them and becomes the first one's field.
std::string WithNames(std::string_view text, const ConditionFields& fields) {
  constexpr std::string_view kSpec = "spec.", kConditions = "conditions";
  std::string named;
  size_t copied = 0;
  for (size_t at = text.find(kConditions); at != std::string_view::npos;
       at = text.find(kConditions, std::max(at + 1, copied))) {
    const bool has_spec = text.substr(copied, at - copied).ends_with(kSpec);
    std::string_view rest = text.substr(at + kConditions.size());
    size_t index = 0;
    if (!ConsumeIndex(rest, index)) {
      const bool goes_on = !rest.empty() && (rest[0] == '[' || IsOfAPath(rest[0]));
      if (!has_spec || goes_on) continue;
    }
    if (index >= fields.size()) continue;
    named += text.substr(copied, at - (has_spec ? kSpec.size() : 0) - copied);
    named += fields[index];
    copied = text.size() - rest.size();
  }
  return named += text.substr(copied);
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
  return WithFieldNames(error, [&](std::string_view text) { return WithNames(text, fields); });
}

}  // namespace reel::front
