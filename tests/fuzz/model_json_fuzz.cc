// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JSON file of a model's folder: refused with the file's name, or an object.
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = reel::model::ParseJson(text, "config.json");
  if (json.ok() ? !json->is_object() : !absl::StrContains(json.status().message(), "config.json")) {
    std::abort();
  }
  return 0;
}
