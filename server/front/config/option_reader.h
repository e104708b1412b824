// SPDX-License-Identifier: Apache-2.0
// Gathers what is wrong with a configuration, and reads the values that have rules.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "server/front/config/address.h"

namespace reel::front {

// A key is written as a person would: "workers[1].device". No problem hides another.
class OptionReader {
 public:
  // `problems` outlives the reader.
  explicit OptionReader(std::vector<std::string>& problems) : problems_(problems) {}

  void Problem(const std::string& key, const std::string& what);
  Address ReadAddress(const std::string& key, const std::string& text);
  // Not negative.
  absl::Duration ReadDuration(const std::string& key, const google::protobuf::Duration& value);
  // Legal, and not in `taken`, where it is put.
  void Name(const std::string& key, const std::string& name, std::set<std::string>& taken);
  void OneOf(const std::string& key, const std::string& value,
             const std::vector<std::string>& legal);
  template <typename T>
  T AtLeast(const std::string& key, T value, T least) {
    if (!(value >= least)) {
      Problem(key, absl::StrCat("must be at least ", least, ": ", value));
    }
    return value;
  }

 private:
  std::vector<std::string>& problems_;
};

}  // namespace reel::front
