// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/torch_cuda_library.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace reel::model {
namespace {

constexpr char kKernels[] = "libreel_cuda.so";
constexpr char kTorchCuda[] = "libreel_torch_cuda.so";

// Never closed: its code may be on a device.
void* OpenBesideKernels() {
  void* const kernels = dlopen(kKernels, RTLD_LAZY | RTLD_NOLOAD);
  if (kernels == nullptr) return nullptr;
  link_map* entry = nullptr;
  const bool found = dlinfo(kernels, RTLD_DI_LINKMAP, &entry) == 0;
  const auto path = found ? std::filesystem::path(entry->l_name).parent_path() / kTorchCuda
                          : std::filesystem::path();
  dlclose(kernels);  // what RTLD_NOLOAD has counted
  return found ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
}

}  // namespace

void* FindInTorchCuda(const char* function) {
  void* const library = OpenBesideKernels();
  return library == nullptr ? nullptr : dlsym(library, function);
}

const kernels::CudaLibraryTable* OpenedKernels() {
  void* const opened = dlopen(kKernels, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return nullptr;
  using Entry = const kernels::CudaLibraryTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(opened, kernels::kCudaLibraryEntry));
  dlclose(opened);  // what RTLD_NOLOAD has counted
  return entry == nullptr ? nullptr : entry();
}

}  // namespace reel::model
