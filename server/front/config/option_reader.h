// SPDX-License-Identifier: Apache-2.0
// Gathers what is wrong with a configuration.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/config/address.h"

namespace reel::front {

// A key is written as a person would: "workers[1].device". No problem hides another.
class OptionReader {
 public:
  // `problems` outlives the reader.
  explicit OptionReader(std::vector<std::string>& problems) : problems_(problems) {}

  void Problem(const std::string& key, const std::string& what);
  Address ReadAddress(const std::string& key, const std::string& text);
  void OneOf(const std::string& key, const std::string& value,
             const std::vector<std::string>& legal);

 private:
  std::vector<std::string>& problems_;
};

}  // namespace reel::front
