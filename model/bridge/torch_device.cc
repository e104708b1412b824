// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/torch_device.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

constexpr char kCudaHalf[] = "libtorch_cuda.so";

}  // namespace

absl::StatusOr<at::Device> TorchDeviceOf(kernels::DeviceStream stream) {
  if (stream.device < 0) return at::Device(at::kCPU);
  // Its static initialisers register the operators; they are looked up from then on.
  if (dlopen(kCudaHalf, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("libtorch's CUDA half cannot be loaded: ", dlerror()));
  }
  if (!at::hasCUDA() || at::getNumGPUs() <= static_cast<size_t>(stream.device)) {
    return absl::FailedPreconditionError(
        absl::StrCat("libtorch sees no such CUDA device: ", stream.device));
  }
  // fp32 means fp32: libtorch's convolutions would round to 10 bits.
  at::globalContext().setAllowTF32CuDNN(false);
  // Some of cuDNN's algorithms add in an order that differs from call to call, as of the vocoder's
  // transposed convolutions: the same request would give another file.
  at::globalContext().setDeterministicCuDNN(true);
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(stream.device));
}

absl::Status ProbeTorchDevice(kernels::DeviceStream stream) {
  return TorchGuard([&]() -> absl::Status {
    const at::Device device =
        stream.device < 0 ? at::Device(at::kCPU)
                          : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(stream.device));
    const ModelScope scope(device);
    const bool is_one = at::ones({1}, at::device(device)).item<float>() == 1;
    return is_one ? absl::OkStatus() : absl::InternalError("The device cannot count to one");
  });
}

}  // namespace reel::model
