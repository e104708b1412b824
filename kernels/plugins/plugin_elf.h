// SPDX-License-Identifier: Apache-2.0
// Reads from a shared library's file what it needs from the process, before any of its code runs.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace reel::kernels {

// FAILED_PRECONDITION for a library for another kind of machine, or one that needs Python:
// libtorch_python, pybind11, Python's data, or functions of Python that must be resolved at once. A
// PyInit function that nobody calls is fine.
absl::Status CheckPluginElf(const std::string& path);

}  // namespace reel::kernels
