// SPDX-License-Identifier: Apache-2.0
// Writes the manual page of `reel` from its flags.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace reel::client {

// Troff with the man macros: `man -l` shows it.
std::string ManPage(const CLI::App& app, const std::string& version);

}  // namespace reel::client
