// SPDX-License-Identifier: Apache-2.0
#include "model/torch_plugins/torch_plugin_variant.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

// A library launches on libtorch's current stream, which must be the call's.
bool IsCurrent(kernels::DeviceStream stream, at::Device device) {
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  return cuda.getStreamNativeHandle(cuda.getStream(device)) == stream.handle;
}

}  // namespace

const BoundForm* TorchPluginVariant::FormFor(const void* params) const {
  for (const BoundForm& bound : forms_) {
    const kernels::DtypeMask dtype = kernels::MaskOf(bound.form->dtype(params));
    if ((bound.dtypes & dtype) != 0 && bound.form->accepts(params)) return &bound;
  }
  return nullptr;
}

absl::Status TorchPluginVariant::Launch(const void* params, kernels::DeviceStream stream) const {
  return TorchGuard([&]() -> absl::Status {
    const BoundForm* bound = FormFor(params);
    if (bound == nullptr)
      return absl::InternalError("It was launched with a call it does not take");
    const c10::InferenceMode no_gradients;
    // The call's own device: a group has several.
    const at::Device device =
        device_.is_cuda() ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(stream.device))
                          : device_;
    const c10::OptionalDeviceGuard guard(device.is_cuda() ? std::optional(device) : std::nullopt);
    if (device.is_cuda() && !IsCurrent(stream, device)) {
      return absl::InternalError("It was called for another stream than libtorch's current one");
    }
    torch::jit::Stack stack = bound->form->stack(params, device);
    bound->handle.callBoxed(stack);
    return absl::OkStatus();
  });
}

}  // namespace reel::model
