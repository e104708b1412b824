// SPDX-License-Identifier: Apache-2.0
#include "kernels/open_device.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/program_folder.h"
#include "kernels/base/status_macros.h"
#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/clock_timer.h"
#include "kernels/dispatch/cuda_library.h"
#include "kernels/dispatch/device_timer.h"

namespace reel::kernels {
namespace {

constexpr absl::string_view kCudaPrefix = "cuda:";

absl::StatusOr<OpenedDevice> OpenCuda(int device, const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const CudaLibraryTable* library, LoadCudaLibrary(path));
  REEL_ASSIGN_OR_RETURN(const DeviceProperties properties, PropertiesOf(*library, device));
  return OpenedDevice{.stream = {.device = device, .handle = nullptr},
                      .catalog = BuiltInCatalog({.device = device, .sm = properties.sm}, library),
                      .facts = {.name = properties.name, .memory_bytes = properties.memory_bytes},
                      .library = library};
}

}  // namespace

absl::StatusOr<OpenedDevice> OpenDevice(const std::string& device, const std::string& library) {
  if (device == "cpu") {
    return OpenedDevice{.stream = {}, .catalog = BuiltInCatalog(), .facts = {}, .library = nullptr};
  }
  if (device == "auto") {
    auto first = OpenCuda(0, library);
    return first.ok() ? std::move(first) : OpenDevice("cpu", library);
  }
  int index = 0;
  if (!absl::StartsWith(device, kCudaPrefix) ||
      !absl::SimpleAtoi(device.substr(kCudaPrefix.size()), &index) || index < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("A device is cpu, cuda:N or auto, not '", device, "'"));
  }
  return OpenCuda(index, library);
}

std::unique_ptr<KernelTimer> TimerFor(const OpenedDevice& opened) {
  if (opened.library == nullptr) return std::make_unique<ClockTimer>();
  return std::make_unique<DeviceTimer>(*opened.library, opened.stream.device);
}

std::string CudaLibraryPath() {
  return (ProgramFolder().parent_path() / "lib" / "libreel_cuda.so").string();
}

}  // namespace reel::kernels
