// SPDX-License-Identifier: Apache-2.0
// Typed, bounded reading of a component's configuration. A key that is missing takes the default of
// its class, as old releases leave newer keys out; unknown keys are ignored, or refused by
// FailUnread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

struct IntRange {
  int64_t min = 0;
  int64_t max = 0;
};

// Remembers the first error, so that a configuration is read field by field and checked once.
class ConfigReader {
 public:
  // `json` is borrowed; `source` names the file in messages.
  ConfigReader(const nlohmann::json& json, std::string source)
      : json_(json), source_(std::move(source)) {}

  int64_t Int(const char* key, int64_t fallback, IntRange range);
  double Number(const char* key, double fallback);
  bool Bool(const char* key, bool fallback);
  std::string String(const char* key, const std::string& fallback);
  // A list or a tuple; null counts as missing.
  std::vector<int64_t> Ints(const char* key, std::vector<int64_t> fallback, IntRange range);
  std::vector<std::vector<int64_t>> IntLists(const char* key,
                                             std::vector<std::vector<int64_t>> fallback,
                                             IntRange range);
  std::vector<bool> Bools(const char* key, std::vector<bool> fallback);
  std::vector<std::string> Strings(const char* key, std::vector<std::string> fallback);

  // An error where the key has another value; a missing one counts as this one.
  void Only(const char* key, const char* value);
  void Only(const char* key, bool value);

  // Keys that decide nothing for the caller, whatever they say.
  void Ignore(std::initializer_list<const char*> keys);
  // An error for a key that nobody has asked for, but for those that begin with "_", which say who
  // wrote the file.
  void FailUnread();
  // Records an error of the caller's.
  void Fail(const std::string& key, const std::string& rule);
  // FAILED_PRECONDITION with the file, the key and the rule.
  const absl::Status& status() const { return status_; }

 private:
  // Null: missing, or JSON null.
  const nlohmann::json* Find(const char* key);
  const nlohmann::json* FindList(const char* key);

  const nlohmann::json& json_;
  const std::string source_;
  std::set<std::string, std::less<>> read_;
  absl::Status status_;
};

}  // namespace reel::model
