// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_error.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace reel::model {
namespace {

constexpr size_t kMostShown = 160;

}  // namespace

absl::Status AdapterError(const std::string& path, absl::string_view key, absl::string_view rule) {
  return absl::FailedPreconditionError(absl::StrCat("the adapter cannot be used: ", path, ": ",
                                                    absl::CHexEscape(key.substr(0, kMostShown)),
                                                    key.empty() ? "" : ": ", rule));
}

}  // namespace reel::model
