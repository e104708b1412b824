// SPDX-License-Identifier: Apache-2.0
#include "model/states/spec_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "model/spec_fields.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr size_t kMostEntries = 1024;  // of a list or a map

// Without what names this machine or another video.
template <typename Fields>
void Visit(Fields& fields, auto& spec)
  requires std::is_same_v<std::remove_const_t<std::remove_reference_t<decltype(spec)>>,
                          GenerationSpec>
{
  VisitContent(fields, spec);
}

template <typename Fields>
void Visit(Fields& fields, auto& condition)
  requires std::is_same_v<std::remove_const_t<std::remove_reference_t<decltype(condition)>>,
                          Condition>
{
  fields("kind", condition.kind);
  fields("use", condition.use);
  fields("frame_index", condition.frame_index);
  fields("strength", condition.strength);
  fields("attention_strength", condition.attention_strength);
  fields("content_type", condition.content_type);
  fields("size_bytes", condition.size_bytes);
  fields("sha256", condition.sha256);
}

// Without the path, which is this machine's.
template <typename Fields>
void Visit(Fields& fields, auto& adapter)
  requires std::is_same_v<std::remove_const_t<std::remove_reference_t<decltype(adapter)>>,
                          RequestAdapter>
{
  fields("name", adapter.name);
  fields("scale", adapter.scale);
  fields("sha256", adapter.sha256);
  fields("part_scales", adapter.part_scales);
  fields("pass_scales", adapter.pass_scales);
}

// The last value of each enum.
constexpr int LastOf(Condition::Kind) { return static_cast<int>(Condition::Kind::kAudio); }
constexpr int LastOf(Condition::Use) { return static_cast<int>(Condition::Use::kReference); }
constexpr int LastOf(ConditionPipeline) { return static_cast<int>(ConditionPipeline::kCondition); }
constexpr int LastOf(VideoCodec) { return static_cast<int>(VideoCodec::kH264); }
constexpr int LastOf(Origin) { return static_cast<int>(Origin::kSpec); }
constexpr int LastOf(EncodingSpeed) { return static_cast<int>(EncodingSpeed::kMedium); }

class FieldWriter {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    if (!(value == T())) json_[name] = JsonOf(value);
  }
  json Take() { return std::move(json_); }

 private:
  template <typename T>
  static json JsonOf(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else if constexpr (std::is_same_v<T, Condition> || std::is_same_v<T, RequestAdapter>) {
      FieldWriter own;
      Visit(own, value);
      return own.Take();
    } else {
      return value;
    }
  }
  template <typename T>
  static json JsonOf(const std::optional<T>& value) {
    return JsonOf(*value);
  }
  template <typename T>
  static json JsonOf(const std::vector<T>& values) {
    json list = json::array();
    for (const T& value : values) list.push_back(JsonOf(value));
    return list;
  }

  json json_ = json::object();
};

class FieldReader {
 public:
  explicit FieldReader(const json& from) : from_(from) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    const auto found = from_.find(name);
    if (found == from_.end()) return;
    ++read_;
    if (!Read(*found, value) && wrong_.empty()) wrong_ = name;
  }
  // The first field that cannot be read; empty: all of them were. A field that this build does not
  // know cannot be honoured.
  std::string wrong() const {
    return !wrong_.empty() || read_ == from_.size() ? wrong_ : "of another version";
  }

 private:
  static bool Read(const json& from, std::string& value) {
    if (!from.is_string()) return false;
    value = from.get<std::string>();
    return true;
  }
  static bool Read(const json& from, bool& value) {
    if (!from.is_boolean()) return false;
    value = from.get<bool>();
    return true;
  }
  static bool Read(const json& from, double& value) {
    if (!from.is_number()) return false;
    value = from.get<double>();
    return true;
  }
  static bool Read(const json& from, uint64_t& value) {
    if (!from.is_number_unsigned()) return false;
    value = from.get<uint64_t>();
    return true;
  }
  static bool Read(const json& from, int64_t& value) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!from.is_number_integer()) return false;
    if (from.is_number_unsigned() && from.get<uint64_t>() > kMost) return false;
    value = from.get<int64_t>();
    return true;
  }
  static bool Read(const json& from, int& value) {
    int64_t wide = 0;
    if (!Read(from, wide) || wide < std::numeric_limits<int>::min() ||
        wide > std::numeric_limits<int>::max()) {
      return false;
    }
    value = static_cast<int>(wide);
    return true;
  }
  template <typename T>
    requires std::is_enum_v<T>
  static bool Read(const json& from, T& value) {
    int number = 0;
    if (!Read(from, number) || number < 0 || number > LastOf(T())) return false;
    value = static_cast<T>(number);
    return true;
  }
  template <typename T>
    requires std::is_same_v<T, Condition> || std::is_same_v<T, RequestAdapter>
  static bool Read(const json& from, T& value) {
    if (!from.is_object()) return false;
    FieldReader own(from);
    Visit(own, value);
    return own.wrong().empty();
  }
  template <typename T>
  static bool Read(const json& from, std::optional<T>& value) {
    return Read(from, value.emplace());
  }
  template <typename T>
  static bool Read(const json& from, std::vector<T>& values) {
    if (!from.is_array() || from.size() > kMostEntries) return false;
    for (const json& entry : from) {
      if (!Read(entry, values.emplace_back())) return false;
    }
    return true;
  }
  template <typename T>
  static bool Read(const json& from, std::map<std::string, T>& values) {
    if (!from.is_object() || from.size() > kMostEntries) return false;
    for (const auto& [key, entry] : from.items()) {
      if (!Read(entry, values[key])) return false;
    }
    return true;
  }

  const json& from_;
  size_t read_ = 0;
  std::string wrong_;
};

}  // namespace

json SpecToJson(const GenerationSpec& spec) {
  FieldWriter fields;
  Visit(fields, spec);
  return fields.Take();
}

absl::StatusOr<GenerationSpec> SpecFromJson(const json& from) {
  if (!from.is_object()) return absl::FailedPreconditionError("the spec is not an object");
  GenerationSpec spec;
  FieldReader fields(from);
  Visit(fields, spec);
  if (fields.wrong().empty()) return spec;
  return absl::FailedPreconditionError(
      absl::StrCat("a field of the spec cannot be read: ", fields.wrong()));
}

std::vector<std::string> Differences(const GenerationSpec& a, const GenerationSpec& b) {
  const json one = SpecToJson(a), other = SpecToJson(b);
  std::set<std::string> names;
  const auto compare = [&names](const json& these, const json& those) {
    for (const auto& [name, value] : these.items()) {
      const auto found = those.find(name);
      if (found == those.end() || *found != value) names.insert(name);
    }
  };
  compare(one, other);
  compare(other, one);
  return {names.begin(), names.end()};
}

}  // namespace reel::model
