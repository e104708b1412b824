// SPDX-License-Identifier: Apache-2.0
// The families of this build that read weights. CMake writes the list (families.cc.in), so that
// registering one takes one word in model/CMakeLists.txt.
#pragma once

#include <vector>

#include "model/family.h"

namespace reel::model {

// In the order in which they are tried; empty in a build without libtorch.
std::vector<ModelFamily> Families();

}  // namespace reel::model
