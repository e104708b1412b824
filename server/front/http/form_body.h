// SPDX-License-Identifier: Apache-2.0
// The body of a request that is a form: urlencoded, or multipart with files. Read strictly and
// within bounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace reel::front {

struct FormPart {
  std::string name;
  std::string value;
  bool file = false;  // it came with a file's name; `value` is the file's bytes
};

constexpr int kMaxFormParts = 32;

// What a Content-Type says of a body.
enum class BodyType { kOther, kJson, kUrlencoded, kMultipart };
BodyType BodyTypeOf(std::string_view content_type);

// Of those two. UNDECODABLE_REQUEST for what is no such form, has more parts than that, or text
// that is not UTF-8.
absl::StatusOr<std::vector<FormPart>> ParseFormBody(std::string_view content_type,
                                                    std::string_view body);

}  // namespace reel::front
