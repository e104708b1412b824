// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_reader.h"

#include <dlfcn.h>

#include <cstdint>
#include <optional>

#include "server/worker/library_function.h"

namespace reel::worker {
namespace {

// Declared as in nvml.h, which a build without CUDA lacks: a result of 0 is success.
using ManagementInit = int (*)();
using ManagementHandle = int (*)(const char* bus_id, void** handle);
using ManagementEnergy = int (*)(void* handle, unsigned long long* millijoules);

class Counters {
 public:
  static std::optional<Counters> Open(const std::vector<std::string>& ids,
                                      const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ManagementInit init = nullptr;
    ManagementHandle by_bus_id = nullptr;
    Counters counters;
    if (library == nullptr || !FindFunction(library, "nvmlInit_v2", init) ||
        !FindFunction(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus_id) ||
        !FindFunction(library, "nvmlDeviceGetTotalEnergyConsumption", counters.energy_) ||
        init() != 0) {
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

EnergyReader EnergyReaderFor(const std::vector<std::string>& bus_ids,
                             const std::string& management) {
  if (bus_ids.empty()) return nullptr;
  const auto counters = Counters::Open(bus_ids, management);
  if (!counters || !counters->Read()) return nullptr;
  return [counters = *counters] { return counters.Read(); };
}

}  // namespace reel::worker
