// SPDX-License-Identifier: Apache-2.0
#include "server/worker/bus_ids.h"

#include <dlfcn.h>

#include <array>

#include "server/worker/library_function.h"

namespace reel::worker {
namespace {

// Declared as in cuda.h, which a build without CUDA lacks: a result of 0 is success.
using CudaInit = int (*)(unsigned flags);
using CudaDevice = int (*)(int* device, int number);
using CudaBusId = int (*)(char* text, int size, int device);

}  // namespace

std::vector<std::string> BusIds(const std::vector<int>& devices, const std::string& cuda) {
  if (devices.empty() || devices[0] < 0) return {};
  void* library = dlopen(cuda.c_str(), RTLD_NOW | RTLD_LOCAL);
  CudaInit init = nullptr;
  CudaDevice get = nullptr;
  CudaBusId bus_id = nullptr;
  if (library == nullptr || !FindFunction(library, "cuInit", init) ||
      !FindFunction(library, "cuDeviceGet", get) ||
      !FindFunction(library, "cuDeviceGetPCIBusId", bus_id) || init(0) != 0) {
    return {};
  }
  std::vector<std::string> ids;
  for (const int number : devices) {
    int device = 0;
    std::array<char, 32> text = {};
    if (get(&device, number) != 0 || bus_id(text.data(), text.size(), device) != 0) return {};
    ids.emplace_back(text.data());
  }
  return ids;
}

}  // namespace reel::worker
