// SPDX-License-Identifier: Apache-2.0
// Replaces functions of libgrpc.so by Reel's own of the same symbol. The library calls them by
// their names, and the loader prefers a program's function to a library's: ours adds a check, then
// calls the replaced one. Only signatures are taken from gRPC, nothing of its classes. In another
// gRPC the symbols differ: then nothing is replaced, and IsReplaced says so.
#pragma once

#include <dlfcn.h>

// Behind a declaration: the function has this symbol.
#define REEL_REPLACES(symbol) __asm__(symbol) __attribute__((visibility("default"), used))

namespace reel::front {

// gRPC's own function of this symbol; null if it has none.
template <typename Function>
Function* ReplacedFunction(const char* symbol) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, symbol));
}

// Whether gRPC calls `ours` where it names this symbol.
template <typename Function>
bool IsReplaced(const char* symbol, Function* ours) {
  return ReplacedFunction<Function>(symbol) != nullptr &&
         ::dlsym(RTLD_DEFAULT, symbol) == reinterpret_cast<void*>(ours);
}

}  // namespace reel::front
