// SPDX-License-Identifier: Apache-2.0
// Looks up functions of a library that is opened at run time.
#pragma once

#include <dlfcn.h>

namespace reel::worker {

// False if the library has no such function.
template <typename Function>
bool FindFunction(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace reel::worker
