// SPDX-License-Identifier: Apache-2.0
// A plug-in as an operator configures it.
#pragma once

#include <string>

namespace reel::kernels {

struct PluginSource {
  std::string name;    // its variants' origin
  std::string root;    // absolute; no file of a plug-in lies outside
  std::string folder;  // below root: a kernel repository, or its build/
  std::string sha256;  // of metadata.json in lower-case hex; empty: any

  bool operator==(const PluginSource&) const = default;
};

}  // namespace reel::kernels
