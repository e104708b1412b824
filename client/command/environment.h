// SPDX-License-Identifier: Apache-2.0
// The environment variables and terminal facts that the reel command uses. Read once, in main.
#pragma once

#include <functional>
#include <string>

namespace reel::client {

struct Environment {
  std::string version;
  std::string folder;                              // where this program lies; empty: not known
  std::string server;                              // REEL_SERVER, or the default
  std::string browser;                             // BROWSER, or the system's opener of links
  bool color = false;                              // for messages on stderr and stdout's tables
  bool out_is_terminal = false;                    // stdout
  bool live = false;                               // stderr is a terminal that can redraw a line
  std::function<int()> width = [] { return 80; };  // of that terminal, now
};

}  // namespace reel::client
