// SPDX-License-Identifier: Apache-2.0
// The command line of reeld: what a person changes by hand. '-' and '_' in names are alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace reel::front {

struct Flags {
  std::string config_file;  // empty: none
  bool check_config = false;
  bool version = false;
  std::string listen, metrics, http, data_dir, model, devices, log;  // empty: not given
  std::string worker_binary;  // empty: reel-worker beside reeld
  std::string port_file;      // the bound addresses are written here, a "name=address" line each
};

struct ParsedFlags {
  Flags flags;
  std::optional<int> exit_code;  // set: print `output` and leave
  std::string output;
};

// `arguments` without the program's name.
ParsedFlags ParseFlags(const std::vector<std::string>& arguments);

}  // namespace reel::front
