// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <set>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program/nearest_name.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr size_t kMostViolations = 8;

}  // namespace

void RepeatedNames::See(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
  using Event = nlohmann::json::parse_event_t;
  switch (event) {
    case Event::object_start:
    case Event::array_start:
      BeginValue();
      open_.emplace_back().is_array = event == Event::array_start;
      break;
    case Event::object_end:
    case Event::array_end:
      open_.pop_back();
      break;
    case Event::key:
      TakeName(parsed.get_ref<const std::string&>());
      break;
    case Event::value:
      BeginValue();
      break;
  }
}

void RepeatedNames::BeginValue() {
  if (!open_.empty() && open_.back().is_array) ++open_.back().members;
}

void RepeatedNames::TakeName(const std::string& name) {
  open_.back().name = name;
  // Paths are put together for what is told only: names can be long, and many.
  if (open_.back().names.insert(name).second || violations_.size() >= kMostViolations) return;
  violations_.push_back({Path(), "must be given once"});
}

std::string RepeatedNames::Path() const {
  std::string path;
  for (const Level& level : open_) {
    if (level.is_array) {
      absl::StrAppend(&path, "[", level.members - 1, "]");
    } else {
      absl::StrAppend(&path, path.empty() ? "" : ".", level.name);
    }
  }
  return path;
}

namespace {

namespace pb = google::protobuf;
using Json = nlohmann::json;
using Violations = std::vector<model::FieldViolation>;

constexpr int kMaxDepth = 32;

// Before any parser sees it: one that calls itself for each level has a stack to lose.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

const pb::FieldDescriptor* FindField(const pb::Descriptor& type, const std::string& name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* field = type.field(i);
    if (field->name() == name || field->json_name() == name) return field;
  }
  return nullptr;
}

void AddUnknown(const pb::Descriptor& type, const std::string& path, const std::string& name,
                Violations& out) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
    names.push_back(type.field(i)->json_name());
  }
  out.push_back({path + name, NoSuchField(name, names)});
}

// Messages whose JSON is no object of their fields.
bool IsWellKnown(const pb::Descriptor& type) {
  return absl::StartsWith(type.full_name(), "google.protobuf.");
}

void CheckNames(const Json& value, const pb::Descriptor& type, const std::string& path,
                Violations& out) {
  if (!value.is_object() || IsWellKnown(type)) return;
  std::set<const pb::FieldDescriptor*> given;  // a name has two spellings
  for (const auto& [name, member] : value.items()) {
    const pb::FieldDescriptor* field = FindField(type, name);
    if (field == nullptr) {
      AddUnknown(type, path, name, out);
    } else if (!given.insert(field).second) {
      out.push_back({path + field->name(), "must be given once"});
    } else if (field->message_type() != nullptr && !field->is_map()) {
      const std::string inner = path + field->name();
      if (!member.is_array()) CheckNames(member, *field->message_type(), inner + ".", out);
      for (size_t i = 0; member.is_array() && i < member.size(); ++i) {
        CheckNames(member[i], *field->message_type(), absl::StrCat(inner, "[", i, "]."), out);
      }
    }
  }
}

}  // namespace

absl::Status Undecodable(const std::string& why) {
  return MakeError(Reason::kUndecodableRequest, "The request cannot be decoded: " + why,
                   {.metadata = {{"why", why}}});
}

std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool IsUtf8(std::string_view text) {
  // What is not comes back as something else.
  const std::string dumped = DumpJson(std::string(text));
  return Json::parse(dumped, nullptr, false).get_ref<const std::string&>() == text;
}

std::string NoSuchField(std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(name, names);
  return nearest.empty() ? "there is no such field"
                         : "there is no such field; the nearest is " + nearest;
}

std::string WriteJson(const pb::Message& message) {
  std::string text;
  // Fails for an Any of a type that is not linked, which nothing here makes.
  if (!pb::util::MessageToJsonString(message, &text).ok()) text = "{}";
  return text;
}

absl::StatusOr<Json> ParseJsonObject(std::string_view text) {
  if (TooDeep(text)) {
    return Undecodable(absl::StrCat("its JSON is nested deeper than ", kMaxDepth, " levels"));
  }
  RepeatedNames repeated;
  const auto see = [&](int, Json::parse_event_t event, const Json& seen) {
    repeated.See(event, seen);
    return true;
  };
  Json parsed = Json::parse(text.begin(), text.end(), see, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Undecodable("it is not a JSON object");
  if (!repeated.violations().empty()) {
    return MakeInvalid(Reason::kInvalidRequest, repeated.violations());
  }
  return parsed;
}

absl::Status ReadJson(std::string_view text, pb::Message& message) {
  REEL_ASSIGN_OR_RETURN(const Json parsed, ParseJsonObject(text));
  Violations violations;
  CheckNames(parsed, *message.GetDescriptor(), "", violations);
  if (!violations.empty()) return MakeInvalid(Reason::kInvalidRequest, violations);
  const auto read = pb::util::JsonStringToMessage({text.data(), text.size()}, &message);
  if (!read.ok()) return Undecodable(std::string(read.message()));
  return absl::OkStatus();
}

absl::Status ReadQuery(const std::vector<std::pair<std::string, std::string>>& fields,
                       pb::Message& message) {
  Json object = Json::object();
  Violations violations;
  for (const auto& [name, value] : fields) {
    const pb::FieldDescriptor* field = FindField(*message.GetDescriptor(), name);
    if (field == nullptr || field->message_type() != nullptr) {
      AddUnknown(*message.GetDescriptor(), "", name, violations);
      continue;
    }
    const bool boolean = field->cpp_type() == pb::FieldDescriptor::CPPTYPE_BOOL;
    Json given =
        boolean && (value == "true" || value == "false") ? Json(value == "true") : Json(value);
    if (field->is_repeated()) {
      object[field->json_name()].push_back(std::move(given));
    } else if (object.contains(field->json_name())) {
      violations.push_back({name, "must be given once"});
    } else {
      object[field->json_name()] = std::move(given);
    }
  }
  if (!violations.empty()) return MakeInvalid(Reason::kInvalidRequest, violations);
  return ReadJson(DumpJson(object), message);
}

}  // namespace reel::front
