// SPDX-License-Identifier: Apache-2.0
#include "kernels/open_device.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "kernels/base/program_folder.h"
#include "kernels/base/status_macros.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/clock_timer.h"
#include "kernels/dispatch/cuda_library.h"
#include "kernels/dispatch/device_name.h"
#include "kernels/dispatch/device_timer.h"

namespace reel::kernels {
namespace {

absl::StatusOr<OpenedDevice> OpenCuda(int device, const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const CudaLibraryTable* library, LoadCudaLibrary(path));
  REEL_ASSIGN_OR_RETURN(const DeviceProperties properties, PropertiesOf(*library, device));
  return OpenedDevice{.stream = {.device = device, .handle = nullptr},
                      .catalog = BuiltInCatalog({.device = device, .sm = properties.sm}, library),
                      .facts = {.name = properties.name, .memory_bytes = properties.memory_bytes},
                      .library = library};
}

// Opens one device, or several as a group, with the kernels and the memory that all of them have.
absl::StatusOr<OpenedDevice> OpenGroup(const std::vector<int>& ranks, const std::string& path) {
  REEL_ASSIGN_OR_RETURN(OpenedDevice group, OpenCuda(ranks[0], path));
  if (ranks.size() == 1) return group;
  for (size_t i = 1; i < ranks.size(); ++i) {
    REEL_ASSIGN_OR_RETURN(const OpenedDevice peer, OpenCuda(ranks[i], path));
    if (peer.facts.name != group.facts.name) {
      return absl::InvalidArgumentError(
          absl::StrCat("the devices of a group are alike: cuda:", ranks[0], " is ",
                       group.facts.name, ", cuda:", ranks[i], " is ", peer.facts.name));
    }
    group.facts.memory_bytes = std::min(group.facts.memory_bytes, peer.facts.memory_bytes);
    group.peers.push_back(ranks[i]);
  }
  group.facts.name = absl::StrCat(ranks.size(), " x ", group.facts.name);
  return group;
}

}  // namespace

absl::StatusOr<OpenedDevice> OpenDevice(const std::string& device, const std::string& library) {
  if (device == "auto") {
    auto first = OpenCuda(0, library);
    return first.ok() ? std::move(first) : OpenDevice("cpu", library);
  }
  REEL_ASSIGN_OR_RETURN(const OwnDevices own, OwnDevicesOf(device));
  const std::vector<int>& ranks = own.ranks;
  if (!own.visible.empty()) setenv("CUDA_VISIBLE_DEVICES", own.visible.c_str(), 1);
  if (ranks[0] != kCpuRank) return OpenGroup(ranks, library);
  OpenedDevice cpu = {.stream = {}, .catalog = BuiltInCatalog()};
  cpu.peers.assign(ranks.begin() + 1, ranks.end());
  return cpu;
}

std::unique_ptr<KernelTimer> TimerFor(const OpenedDevice& opened) {
  if (opened.library == nullptr) return std::make_unique<ClockTimer>();
  return std::make_unique<DeviceTimer>(*opened.library, opened.stream.device);
}

std::string CudaLibraryPath() {
  return (ProgramFolder().parent_path() / "lib" / "libreel_cuda.so").string();
}

}  // namespace reel::kernels
