// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_reader.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <optional>

namespace reel::worker {
namespace {

// As cuda.h and nvml.h have them, which a build without CUDA lacks: results are 0 for success.
using CudaInit = int (*)(unsigned flags);
using CudaDevice = int (*)(int* device, int number);
using CudaBusId = int (*)(char* text, int size, int device);
using ManagementInit = int (*)();
using ManagementHandle = int (*)(const char* bus_id, void** handle);
using ManagementEnergy = int (*)(void* handle, unsigned long long* millijoules);

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// What CUDA_VISIBLE_DEVICES and CUDA's order make of a number, the bus says without doubt.
std::vector<std::string> BusIds(const std::vector<int>& devices, const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  CudaInit init = nullptr;
  CudaDevice get = nullptr;
  CudaBusId bus_id = nullptr;
  if (library == nullptr || !Find(library, "cuInit", init) || !Find(library, "cuDeviceGet", get) ||
      !Find(library, "cuDeviceGetPCIBusId", bus_id) || init(0) != 0) {
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

class Counters {
 public:
  static std::optional<Counters> Open(const std::vector<std::string>& ids,
                                      const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ManagementInit init = nullptr;
    ManagementHandle by_bus_id = nullptr;
    Counters counters;
    if (library == nullptr || !Find(library, "nvmlInit_v2", init) ||
        !Find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus_id) ||
        !Find(library, "nvmlDeviceGetTotalEnergyConsumption", counters.energy_) || init() != 0) {
      return std::nullopt;
    }
    for (const std::string& id : ids) {
      void* handle = nullptr;
      if (by_bus_id(id.c_str(), &handle) != 0) return std::nullopt;
      counters.handles_.push_back(handle);
    }
    return counters;
  }

  std::optional<int64_t> Read() const {
    int64_t sum = 0;
    for (void* handle : handles_) {
      unsigned long long millijoules = 0;
      if (energy_(handle, &millijoules) != 0) return std::nullopt;
      sum += static_cast<int64_t>(millijoules);
    }
    return sum;
  }

 private:
  ManagementEnergy energy_ = nullptr;
  std::vector<void*> handles_;
};

}  // namespace

EnergyReader EnergyReaderFor(const std::vector<int>& devices, const EnergyLibraries& libraries) {
  if (devices.empty() || devices[0] < 0) return nullptr;
  const std::vector<std::string> ids = BusIds(devices, libraries.cuda);
  if (ids.empty()) return nullptr;
  const auto counters = Counters::Open(ids, libraries.management);
  if (!counters || !counters->Read()) return nullptr;
  return [counters = *counters] { return counters.Read(); };
}

}  // namespace reel::worker
