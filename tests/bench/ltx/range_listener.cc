// SPDX-License-Identifier: Apache-2.0
// A profiler for a test: prints the ranges of the process that NVTX loads it into, each indented by
// the ranges around it.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace {

int& Depth() {
  static int depth = 0;
  return depth;
}

int Push(const char* name) {
  std::fprintf(stderr, "range %*s%s\n", 2 * Depth(), "", name);
  return Depth()++;
}

int Pop() { return --Depth(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t table_of) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(table_of(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, nullptr) == 0) {
    return 0;
  }
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(Push);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(Pop);
  return 1;
}
