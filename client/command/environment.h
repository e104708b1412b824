// SPDX-License-Identifier: Apache-2.0
// The environment variables and terminal facts that the reel command uses. Read once, in main.
#pragma once

#include <functional>
#include <string>

namespace reel::client {

struct Environment {
  std::string version;
  std::string folder;            // this program's folder; empty: unknown
  std::string server;            // REEL_SERVER, or the default
  std::string browser;           // BROWSER, or the system's command that opens links
  bool color = false;            // for messages on stderr and tables on stdout
  bool out_is_terminal = false;  // stdout is a terminal
  bool live = false;             // stderr is a terminal that can redraw a line
  std::function<int()> width = [] { return 80; };  // current width of that terminal
};

}  // namespace reel::client
