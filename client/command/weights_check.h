// SPDX-License-Identifier: Apache-2.0
// A look at weights without a server: reel-render, which lies beside this program, reads them as a
// server's load would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/command/exit_code.h"

namespace reel::client {

// What `reel doctor` found out about one thing.
struct Check {
  std::string name;
  bool ok = true;
  std::string detail;
  std::string hint;                        // what to do; empty when ok
  ExitCode code = ExitCode::kUnavailable;  // of a problem
};

// What to look at; all but the path may be empty.
struct WeightsFlags {
  std::string path;  // a folder or file, or a name that reel-render knows
  std::string dtype, text_folder, manifest;
  std::optional<uint64_t> random_weights;
};

// `folder`: where this program lies.
Check CheckWeights(const std::string& folder, const WeightsFlags& flags);

}  // namespace reel::client
