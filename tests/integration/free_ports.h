// SPDX-License-Identifier: Apache-2.0
// Paths and free ports of programs that are not Reel's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace reel::tests {

// Ports that were free a moment ago, each another: for programs that cannot tell which one the
// system has chosen for them.
std::vector<int> FreePorts(size_t count);

// The path of a program of .deps/bin or PATH; empty: there is none.
std::string FindTool(const std::string& name);

}  // namespace reel::tests
