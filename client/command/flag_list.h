// SPDX-License-Identifier: Apache-2.0
// The commands and flags of a program as plain values, for completions and the manual page.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace reel::client {

struct FlagText {
  std::vector<std::string> names;    // "--output", "-o"; of a positional argument its name alone
  std::string value;                 // "FILE"; empty: it takes none
  std::vector<std::string> choices;  // if it takes one of a few words
  std::string help;
  bool positional = false;
};

struct CommandText {
  std::string name;
  std::string help;
  std::vector<FlagText> flags;
};

std::vector<FlagText> FlagsOf(const CLI::App& level);
std::vector<CommandText> CommandsOf(const CLI::App& app);

}  // namespace reel::client
