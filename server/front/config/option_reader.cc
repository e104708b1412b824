// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/option_reader.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "kernels/base/program/nearest_name.h"
#include "server/front/config/legal_name.h"

namespace reel::front {

void OptionReader::Problem(const std::string& key, const std::string& what) {
  problems_.push_back(absl::StrCat(key, ": ", what));
}

Address OptionReader::ReadAddress(const std::string& key, const std::string& text) {
  auto address = ParseAddress(text);
  if (address.ok()) return *address;
  Problem(key, std::string(address.status().message()));
  return {};
}

absl::Duration OptionReader::ReadDuration(const std::string& key,
                                          const google::protobuf::Duration& value) {
  const absl::Duration duration = absl::Seconds(value.seconds()) + absl::Nanoseconds(value.nanos());
  if (duration < absl::ZeroDuration()) {
    Problem(key, absl::StrCat("must not be negative: ", absl::FormatDuration(duration)));
  }
  return duration;
}

void OptionReader::Name(const std::string& key, const std::string& name,
                        std::set<std::string>& taken) {
  if (!IsLegalName(name)) {
    Problem(key, absl::StrCat("must be 1..63 of a-z, 0-9, '.', '_', '-', the first a letter or "
                              "digit: '",
                              name, "'"));
  } else if (!taken.insert(name).second) {
    Problem(key, absl::StrCat("is listed twice: '", name, "'"));
  }
}

void OptionReader::OneOf(const std::string& key, const std::string& value,
                         const std::vector<std::string>& legal) {
  if (std::find(legal.begin(), legal.end(), value) != legal.end()) return;
  const std::string nearest = NearestName(value, legal);
  Problem(key, absl::StrCat("must be one of ", absl::StrJoin(legal, ", "), ": '", value, "'",
                            nearest.empty() ? "" : "; the nearest is '" + nearest + "'"));
}

}  // namespace reel::front
