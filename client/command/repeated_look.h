// SPDX-License-Identifier: Apache-2.0
// Runs commands that redraw on a terminal, and print once elsewhere.
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

// The text to show, and whether it can still change.
struct Look {
  std::string text;
  bool changes = true;
};
using Looker = std::function<absl::StatusOr<Look>(bool is_live)>;

// Repeats until Ctrl-C, an error, or nothing can change.
ExitCode LookAgainAndAgain(Session& session, const LookFlags& flags, const Looker& look);

}  // namespace reel::client
