// SPDX-License-Identifier: Apache-2.0
// Commands that show something again and again on a terminal, and once elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/command/session.h"
#include <CLI/App.hpp>

namespace reel::client {

struct LookFlags {
  bool once = false;
  double every = 2;
};

// --once and --every.
std::shared_ptr<LookFlags> AddLookFlags(CLI::App& command);

// What is shown, and whether another look may show something else.
struct Look {
  std::string text;
  bool changes = true;
};
using Looker = std::function<absl::StatusOr<Look>(bool is_live)>;

// Until Ctrl-C, an error, or nothing changes.
ExitCode LookAgainAndAgain(Session& session, const LookFlags& flags, const Looker& look);

}  // namespace reel::client
