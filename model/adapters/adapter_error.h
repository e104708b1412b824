// SPDX-License-Identifier: Apache-2.0
// The error of an adapter that cannot be used.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reel::model {

// FAILED_PRECONDITION with the file, the key, cut and escaped, and the rule. An empty key is left
// out.
absl::Status AdapterError(const std::string& path, absl::string_view key, absl::string_view rule);

}  // namespace reel::model
