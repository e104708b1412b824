// SPDX-License-Identifier: Apache-2.0
// Writes shell completion for `reel`: commands, flags, and the values of flags that take one of a
// few words. Other values complete to files.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace reel::client {

std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

}  // namespace reel::client
