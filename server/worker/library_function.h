// SPDX-License-Identifier: Apache-2.0
// Functions of a library that is opened while the program runs.
#pragma once

#include <dlfcn.h>

namespace reel::worker {

// False where the library has none of this name.
template <typename Function>
bool FindFunction(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace reel::worker
