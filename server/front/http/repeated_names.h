// SPDX-License-Identifier: Apache-2.0
// Finds names that an object of a JSON text has twice, while the text is parsed: parsers keep the
// last value, or merge both, and say nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/resolve.h"

namespace reel::front {

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

}  // namespace reel::front
