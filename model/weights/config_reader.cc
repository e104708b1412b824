// SPDX-License-Identifier: Apache-2.0
#include "model/weights/config_reader.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr size_t kMaxListItems = 64;

bool InRange(const nlohmann::json& value, IntRange range) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return false;
  }
  const auto number = value.get<int64_t>();
  return number >= range.min && number <= range.max;
}

// False: an item is no integer of the range.
bool AppendInts(const nlohmann::json& list, IntRange range, std::vector<int64_t>& values) {
  for (const nlohmann::json& item : list) {
    if (!InRange(item, range)) return false;
    values.push_back(item.get<int64_t>());
  }
  return true;
}

std::string RangeRule(IntRange range) {
  return absl::StrCat("must be an integer from ", range.min, " to ", range.max);
}

}  // namespace

void ConfigReader::Fail(const std::string& key, const std::string& rule) {
  if (!status_.ok()) return;
  status_ = absl::FailedPreconditionError(
      absl::StrCat("bad configuration: ", source_, ": ", key, " ", rule));
}

void ConfigReader::Only(const char* key, const char* value) {
  if (String(key, value) != value) Fail(key, absl::StrCat("must be ", value));
}

void ConfigReader::Only(const char* key, bool value) {
  if (Bool(key, value) != value) Fail(key, value ? "must be true" : "must be false");
}

void ConfigReader::Ignore(std::initializer_list<const char*> keys) {
  read_.insert(keys.begin(), keys.end());
}

void ConfigReader::FailUnread() {
  for (const auto& [key, value] : json_.items()) {
    if (key.starts_with('_') || read_.contains(key)) continue;
    return Fail(key, "is not known");
  }
}

const nlohmann::json* ConfigReader::Find(const char* key) {
  read_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json* ConfigReader::FindList(const char* key) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return nullptr;
  if (!value->is_array() || value->size() > kMaxListItems) {
    Fail(key, absl::StrCat("must be a list of at most ", kMaxListItems, " items"));
    return nullptr;
  }
  return value;
}

int64_t ConfigReader::Int(const char* key, int64_t fallback, IntRange range) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!InRange(*value, range)) {
    Fail(key, RangeRule(range));
    return fallback;
  }
  return value->get<int64_t>();
}

double ConfigReader::Number(const char* key, double fallback) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    Fail(key, "must be a finite number");
    return fallback;
  }
  return value->get<double>();
}

bool ConfigReader::Bool(const char* key, bool fallback) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    Fail(key, "must be true or false");
    return fallback;
  }
  return value->get<bool>();
}

std::string ConfigReader::String(const char* key, const std::string& fallback) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) {
    Fail(key, "must be a string");
    return fallback;
  }
  return value->get<std::string>();
}

std::vector<int64_t> ConfigReader::Ints(const char* key, std::vector<int64_t> fallback,
                                        IntRange range) {
  const nlohmann::json* list = FindList(key);
  if (list == nullptr) return fallback;
  std::vector<int64_t> values;
  if (AppendInts(*list, range, values)) return values;
  Fail(key, absl::StrCat("of each item ", RangeRule(range)));
  return fallback;
}

std::vector<std::vector<int64_t>> ConfigReader::IntLists(const char* key,
                                                         std::vector<std::vector<int64_t>> fallback,
                                                         IntRange range) {
  const nlohmann::json* lists = FindList(key);
  if (lists == nullptr) return fallback;
  std::vector<std::vector<int64_t>> values;
  for (const nlohmann::json& list : *lists) {
    const bool is_list = list.is_array() && list.size() <= kMaxListItems;
    if (!is_list || !AppendInts(list, range, values.emplace_back())) {
      Fail(key, absl::StrCat("must hold lists only, of each item of them ", RangeRule(range)));
      return fallback;
    }
  }
  return values;
}

std::vector<bool> ConfigReader::Bools(const char* key, std::vector<bool> fallback) {
  const nlohmann::json* list = FindList(key);
  if (list == nullptr) return fallback;
  std::vector<bool> values;
  for (const nlohmann::json& item : *list) {
    if (!item.is_boolean()) {
      Fail(key, "must hold true and false only");
      return fallback;
    }
    values.push_back(item.get<bool>());
  }
  return values;
}

std::vector<std::string> ConfigReader::Strings(const char* key, std::vector<std::string> fallback) {
  const nlohmann::json* list = FindList(key);
  if (list == nullptr) return fallback;
  std::vector<std::string> values;
  for (const nlohmann::json& item : *list) {
    if (!item.is_string()) {
      Fail(key, "must hold strings only");
      return fallback;
    }
    values.push_back(item.get<std::string>());
  }
  return values;
}

}  // namespace reel::model
