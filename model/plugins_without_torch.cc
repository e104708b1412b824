// SPDX-License-Identifier: Apache-2.0
// Implements plugins.h in a build without libtorch.
#include "model/plugins.h"

namespace reel::model {

absl::Status DescribeTorch(kernels::DeviceStream, kernels::PluginHost&) { return absl::OkStatus(); }

absl::StatusOr<TorchPlugin> OpenTorchPlugin(const kernels::PluginBuild&, kernels::DeviceStream) {
  return absl::FailedPreconditionError("This build has no libtorch, which the plug-in needs");
}

absl::StatusOr<std::unique_ptr<kernels::CheckMemory>> MakeCheckMemory(
    kernels::DeviceStream stream) {
  if (stream.device < 0) return std::make_unique<kernels::HostCheckMemory>();
  return absl::FailedPreconditionError("This build has no libtorch, which tests plug-ins on a GPU");
}

}  // namespace reel::model
