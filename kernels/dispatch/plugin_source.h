// SPDX-License-Identifier: Apache-2.0
// A plug-in as the configuration names it.
#pragma once

#include <string>

namespace reel::kernels {

struct PluginSource {
  std::string name;    // its variants' origin
  std::string root;    // absolute; all files of plug-ins are below it
  std::string folder;  // below root: a kernel repository, or its build/
  std::string sha256;  // of metadata.json in lower-case hex; empty: not pinned

  bool operator==(const PluginSource&) const = default;
};

}  // namespace reel::kernels
