// SPDX-License-Identifier: Apache-2.0
// Flags with structured values: pairs and durations.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include <CLI/App.hpp>

namespace reel::client {

// NAME=VALUE, repeatable; takes only its own argument. `command` keeps a reference to `pairs`;
// `type` is the value's name in help.
void AddPairs(CLI::App& command, const std::string& flag, std::map<std::string, std::string>& pairs,
              const std::string& type, const std::string& help);

// TIME as ParseDuration reads it. `command` keeps a reference to `value`.
void AddDuration(CLI::App& command, const std::string& flag, std::optional<absl::Duration>& value,
                 const std::string& help);

}  // namespace reel::client
