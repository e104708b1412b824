// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/field_rules.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/nearest_name.h"
#include "reel/config/v1/rules.pb.h"
#include "server/convert/proto_duration.h"
#include "server/front/config/address.h"

namespace reel::front {
namespace {

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool IsLegalName(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  return IsAlphanumeric(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

bool IsLegalReplica(std::string_view replica) {
  return !replica.empty() && replica.size() <= 16 &&
         std::all_of(replica.begin(), replica.end(), IsAlphanumeric);
}

namespace {

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool AreRegionChars(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

// As S3 has it, so that it needs no encoding in a URL.
bool IsBucket(const std::string& name) {
  const auto is_edge = [](char c) { return c == '.' || c == '-'; };
  return name.size() >= 3 && name.size() <= 63 &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; }) &&
         !is_edge(name.front()) && !is_edge(name.back()) && !absl::StrContains(name, "..");
}

bool IsOrigin(const std::string& text) {
  return (absl::StartsWith(text, "http://") || absl::StartsWith(text, "https://")) &&
         !absl::EndsWith(text, "/");
}

std::string Unless(bool fits, const std::string& rule, const std::string& text) {
  return fits ? "" : absl::StrCat("must be ", rule, ": '", text, "'");
}

std::string WrongName(const std::string& name, int longest) {
  const bool fits = IsLegalName(name) && (longest == 0 || static_cast<int>(name.size()) <= longest);
  return Unless(fits,
                absl::StrCat("1..", longest == 0 ? 63 : longest,
                             " of a-z, 0-9, '.', '_', '-', the first a letter or digit"),
                name);
}

}  // namespace

std::string WrongFormat(config::v1::Format format, const std::string& text, int longest) {
  switch (format) {
    case config::v1::FORMAT_NAME:
      return WrongName(text, longest);
    case config::v1::FORMAT_REPLICA:
      return Unless(IsLegalReplica(text), "1 to 16 of a-z and 0-9", text);
    case config::v1::FORMAT_ADDRESS:
      return std::string(ParseAddress(text).status().message());
    case config::v1::FORMAT_ORIGIN:
      return Unless(IsOrigin(text), "SCHEME://HOST[:PORT] without a path", text);
    case config::v1::FORMAT_COLLECTOR:
      return std::string(ParseCollectorAddress(text).status().message());
    case config::v1::FORMAT_SHA256:
      return Unless(IsSha256Hex(text), "64 lower-case hex digits", text);
    case config::v1::FORMAT_BUCKET:
      return Unless(IsBucket(text), "3 to 63 of a-z, 0-9, '.' and '-'", text);
    case config::v1::FORMAT_REGION:
      return Unless(text.size() <= 32 && AreRegionChars(text), "1 to 32 of a-z, 0-9 and '-'", text);
    default:
      return "";
  }
}

std::string NotOneOf(const std::string& text, const std::vector<std::string>& legal) {
  if (std::find(legal.begin(), legal.end(), text) != legal.end()) return "";
  const std::string nearest = NearestName(text, legal);
  return absl::StrCat("must be one of ", absl::StrJoin(legal, ", "), ": '", text, "'",
                      nearest.empty() ? "" : "; the nearest is '" + nearest + "'");
}

namespace {

using config::v1::Rule;
using google::protobuf::Duration;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const Rule& RuleOf(const FieldDescriptor& field) {
  return field.options().GetExtension(config::v1::rule);
}

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

bool IsDuration(const FieldDescriptor& field) {
  return IsMessage(field) && field.message_type() == Duration::descriptor();
}

// A rule's bound; a test reads all of them.
double AmountOf(const std::string& text) { return ParseAmount(text).value_or(0); }

// Of a field that is unset.
void SetDefault(Message& message, const FieldDescriptor& field, const std::string& text) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, text);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, text == "true");
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, static_cast<int32_t>(AmountOf(text)));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(&message, &field, static_cast<int64_t>(AmountOf(text)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, AmountOf(text));
    default:
      break;
  }
  Message& inside = *reflection.MutableMessage(&message, &field);
  if (!IsDuration(field)) return;
  SetProtoDuration(dynamic_cast<Duration&>(inside), absl::Seconds(AmountOf(text)));
}

// A value that has an amount, and how it is shown.
struct Amount {
  double value;
  std::string text;
};

std::optional<Amount> AmountAt(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const auto number = [](auto value) {
    return Amount{static_cast<double>(value), absl::StrCat(value)};
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return number(reflection.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return number(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(reflection.GetDouble(message, &field));
    default:
      break;
  }
  if (!IsDuration(field)) return std::nullopt;
  const auto& proto = dynamic_cast<const Duration&>(reflection.GetMessage(message, &field));
  const absl::Duration time = FromProtoDuration(proto);
  return Amount{absl::ToDoubleSeconds(time), absl::FormatDuration(time)};
}

// Empty: it is within the rule's bounds.
std::string WrongAmount(const Amount& amount, const Rule& rule, bool is_count) {
  const std::string& max = rule.max();
  const std::string min = rule.min().empty() ? "0" : rule.min();
  // Also false for what is no number.
  if (amount.value >= AmountOf(min) && (max.empty() || amount.value <= AmountOf(max))) return "";
  std::string bounds = absl::StrCat(min, " to ", max);
  if (max.empty()) bounds = absl::StrCat("at least ", min);
  if (is_count && rule.min().empty()) bounds = absl::StrCat("at most ", max);
  if (min == max) bounds = min;
  return absl::StrCat("must be ", bounds, ": ", amount.text);
}

class FieldWalk {
 public:
  // Names that elements of the same list have taken, by their field.
  using Taken = std::map<const FieldDescriptor*, std::set<std::string>>;

  void Walk(const Message& message, const std::string& prefix, Taken& taken) {
    const auto& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const std::string key = prefix + field.name();
      if (field.is_map()) continue;
      if (field.is_repeated()) {
        CheckList(message, field, key);
      } else if (!field.has_presence() || message.GetReflection()->HasField(message, &field)) {
        CheckField(message, field, key, taken);
      }
    }
  }

  std::vector<std::string> problems() && { return std::move(problems_); }

 private:
  void CheckList(const Message& message, const FieldDescriptor& field, const std::string& key) {
    const Reflection& reflection = *message.GetReflection();
    const Rule& rule = RuleOf(field);
    const int size = reflection.FieldSize(message, &field);
    if (size == 0 && !rule.required().empty()) {
      return Problem(key, absl::StrCat("must be set: ", rule.required()));
    }
    Problem(key, WrongAmount({static_cast<double>(size), absl::StrCat(size)}, rule, true));
    // The elements of a list that is too long would have a problem each.
    if (!rule.max().empty() && size > AmountOf(rule.max())) return;
    Taken taken;
    for (int i = 0; i < size; ++i) {
      const std::string at = absl::StrCat(key, "[", i, "]");
      if (IsMessage(field)) {
        Walk(reflection.GetRepeatedMessage(message, &field, i), at + ".", taken);
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        CheckText(reflection.GetRepeatedString(message, &field, i), field, at, taken);
      }
    }
  }

  void CheckField(const Message& message, const FieldDescriptor& field, const std::string& key,
                  Taken& taken) {
    const Reflection& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      return CheckText(reflection.GetString(message, &field), field, key, taken);
    }
    if (const auto amount = AmountAt(message, field)) {
      return Problem(key, WrongAmount(*amount, RuleOf(field), false));
    }
    if (!IsMessage(field)) return;
    Taken inside;
    Walk(reflection.GetMessage(message, &field), key + ".", inside);
  }

  void CheckText(const std::string& text, const FieldDescriptor& field, const std::string& key,
                 Taken& taken) {
    const Rule& rule = RuleOf(field);
    const bool is_name = rule.format() == config::v1::FORMAT_NAME;
    if (text.empty() && !rule.required().empty()) {
      return Problem(key, absl::StrCat("must be set: ", rule.required()));
    }
    if (text.empty() && !is_name) return;
    if (!rule.one_of().empty()) {
      Problem(key, NotOneOf(text, {rule.one_of().begin(), rule.one_of().end()}));
    }
    const std::string wrong =
        WrongFormat(rule.format(), text, static_cast<int>(AmountOf(rule.max())));
    Problem(key, wrong);
    if (is_name && wrong.empty() && !taken[&field].insert(text).second) {
      Problem(key, absl::StrCat("is listed twice: '", text, "'"));
    }
  }

  void Problem(const std::string& key, const std::string& what) {
    if (!what.empty()) problems_.push_back(absl::StrCat(key, ": ", what));
  }

  std::vector<std::string> problems_;
};

}  // namespace

std::optional<double> ParseAmount(const std::string& text) {
  double number = 0;
  if (absl::SimpleAtod(text, &number)) return number;
  absl::Duration time;
  if (absl::ParseDuration(text, &time)) return absl::ToDoubleSeconds(time);
  const std::pair<const char*, double> units[] = {{" MiB", 1 << 20}, {" GiB", 1 << 30}};
  for (const auto& [unit, bytes] : units) {
    absl::string_view rest = text;
    if (absl::ConsumeSuffix(&rest, unit) && absl::SimpleAtod(rest, &number)) return number * bytes;
  }
  return std::nullopt;
}

void FillFieldDefaults(Message& message) {
  const auto& type = *message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_map()) continue;
    if (field.is_repeated()) {
      for (int at = 0; IsMessage(field) && at < reflection.FieldSize(message, &field); ++at) {
        FillFieldDefaults(*reflection.MutableRepeatedMessage(&message, &field, at));
      }
      continue;
    }
    const std::string& text = RuleOf(field).default_value();
    if (!text.empty() && !reflection.HasField(message, &field)) SetDefault(message, field, text);
    if (!IsMessage(field) || !reflection.HasField(message, &field)) continue;
    FillFieldDefaults(*reflection.MutableMessage(&message, &field));
  }
}

std::vector<std::string> FieldProblems(const Message& message) {
  FieldWalk walk;
  FieldWalk::Taken taken;
  walk.Walk(message, "", taken);
  return std::move(walk).problems();
}

std::string DefaultText(const Message& message, const std::string& field) {
  const FieldDescriptor* found = message.GetDescriptor()->FindFieldByName(field);
  return found == nullptr ? "" : RuleOf(*found).default_value();
}

}  // namespace reel::front
