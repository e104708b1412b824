// SPDX-License-Identifier: Apache-2.0
// The API's messages as proto3 JSON.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/resolve.h"

namespace google::protobuf {
class Message;
}

namespace reel::front {

// Finds names that an object of a JSON text has twice, while the text is parsed: parsers keep the
// last value, or merge both, and say nothing.
// Sees the parser's events. Costs time and memory in the length of the text.
class RepeatedNames {
 public:
  // A callback of nlohmann::json::parse, which keeps everything.
  void See(nlohmann::json::parse_event_t event, const nlohmann::json& parsed);
  // Of the first few names, with their paths as they were sent.
  const std::vector<model::FieldViolation>& violations() const { return violations_; }

 private:
  // An object or array that is open.
  struct Level {
    bool is_array = false;
    size_t members = 0;  // of an array, begun so far
    std::set<std::string> names;
    std::string name;  // of an object's member that is being read
  };
  void BeginValue();
  void TakeName(const std::string& name);
  std::string Path() const;

  std::vector<Level> open_;
  std::vector<model::FieldViolation> violations_;
};

// One line; bytes that are not UTF-8 are replaced.
std::string DumpJson(const nlohmann::json& json);

// lowerCamelCase, 64-bit numbers as strings, enums by name, bytes as base64; one line.
std::string WriteJson(const google::protobuf::Message& message);

// An object, not too deep. UNDECODABLE_REQUEST; INVALID_REQUEST with the path of every name that an
// object has twice.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text);

// Both spellings of names. UNDECODABLE_REQUEST for what is no JSON or of other types;
// INVALID_REQUEST with every unknown field and the nearest known name, and for a field that is
// given twice.
absl::Status ReadJson(std::string_view text, google::protobuf::Message& message);

// UNDECODABLE_REQUEST: what was sent is not what it says that it is.
absl::Status Undecodable(const std::string& why);
bool IsUtf8(std::string_view text);
// "there is no such field", with the nearest of `names` where one is near.
std::string NoSuchField(std::string_view name, const std::vector<std::string>& names);

// The same for fields of a query: scalars and enums by name; a repeated field may come again.
absl::Status ReadQuery(const std::vector<std::pair<std::string, std::string>>& fields,
                       google::protobuf::Message& message);

}  // namespace reel::front
