// SPDX-License-Identifier: Apache-2.0
// Runs the reel command: flags in, exit code out.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "client/command/environment.h"

namespace reel::client {

// All of `reel`: parses, runs, and returns the exit code. `arguments` are without the program's
// name.
int RunCommandLine(const std::vector<std::string>& arguments, const Environment& environment,
                   std::FILE* out, std::FILE* err);

}  // namespace reel::client
