// SPDX-License-Identifier: Apache-2.0
// Prints an error for people and for scripts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace reel::client {

// The error, each violation on its own line under the flag that caused it, then advice:
//   error: The request breaks a rule:
//     --width: 700 is not a multiple of 32; nearest: 704.
//   hint: `reel models` shows what each model accepts.
struct Asked {
  std::string server;                   // the address that was called
  std::vector<std::string> conditions;  // of each that was sent, such as "--image fox.png"
};
std::string ReportError(const absl::Status& status, const Asked& asked, bool color);

// {"error": {"code": "INVALID_ARGUMENT", "reason": ..., "message": ..., "violations": [...]}}
std::string ErrorJson(const absl::Status& status);

// The flag for a field of a request: "--width" for "spec.width"; the field itself if none is known.
std::string FlagOf(const std::string& field, const std::vector<std::string>& conditions = {});

}  // namespace reel::client
