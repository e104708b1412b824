// SPDX-License-Identifier: Apache-2.0
// The functions of libtorch that plug-ins need, without its types. bridge/ implements them; in a
// build without libtorch plugins_without_torch.cc does, where no torch build fits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/plugins/check_memory.h"
#include "kernels/plugins/plugin_build.h"

namespace reel::model {

// Adds the versions of libtorch and its CUDA, which this loads for a device.
absl::Status DescribeTorch(kernels::DeviceStream stream, kernels::PluginHost& host);

// The tested variants of a torch build, and its unused parts.
struct TorchPlugin {
  std::vector<std::shared_ptr<const kernels::HostedVariant>> variants;
  std::vector<std::string> unused;
};

// Loads the library, which registers its operators and stays loaded. ALREADY_EXISTS if its
// namespace is taken, FAILED_PRECONDITION if it cannot be opened or has no operator that Reel knows
// and whose results match.
absl::StatusOr<TorchPlugin> OpenTorchPlugin(const kernels::PluginBuild& build,
                                            kernels::DeviceStream stream);

// Memory for the test of a plug-in's variants on the device of `stream`.
absl::StatusOr<std::unique_ptr<kernels::CheckMemory>> MakeCheckMemory(kernels::DeviceStream stream);

}  // namespace reel::model
