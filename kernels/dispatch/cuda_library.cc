// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/cuda_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace reel::kernels {

absl::StatusOr<const CudaLibraryTable*> LoadCudaLibrary(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::NotFoundError(absl::StrCat("The CUDA library cannot be opened: ", dlerror()));
  }
  using Entry = const CudaLibraryTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kCudaLibraryEntry));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("The library has no kernels of Reel: ", path, " lacks ", kCudaLibraryEntry));
  }
  const CudaLibraryTable* table = entry();
  if (table == nullptr || table->version != kCudaLibraryVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("The CUDA library is of another build: ", path, " has version ",
                     table == nullptr ? 0 : table->version, ", expected ", kCudaLibraryVersion));
  }
  return table;
}

absl::StatusOr<DeviceProperties> PropertiesOf(const CudaLibraryTable& library, int device) {
  int32_t count = 0;
  int32_t error = library.device_count(&count);
  DeviceProperties properties{};
  if (error == 0 && device >= 0 && device < count) {
    error = library.device_properties(device, &properties);
    if (error == 0) return properties;
  }
  return absl::NotFoundError(absl::StrCat("There is no such CUDA device: ", device, " of ", count,
                                          error == 0 ? "" : ", ",
                                          error == 0 ? "" : library.error_name(error)));
}

}  // namespace reel::kernels
