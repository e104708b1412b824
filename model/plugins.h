// SPDX-License-Identifier: Apache-2.0
// The functions of libtorch that plug-ins need, without its types: bridge/ implements them, or in
// a build without libtorch plugins_without_torch.cc, where no torch build fits and only the CPU
// has memory.
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

// Adds the versions of libtorch and of its CUDA, which this loads for a device.
absl::Status DescribeTorch(kernels::DeviceStream stream, kernels::PluginHost& host);

// Variants of a torch build, each tested, and what of it is not used.
struct TorchPlugin {
  std::vector<std::shared_ptr<const kernels::HostedVariant>> variants;
  std::vector<std::string> unused;
};

// Loads the library, which registers its operators, and stays. ALREADY_EXISTS when its namespace is
// taken, FAILED_PRECONDITION when it cannot be opened or has no operator that Reel knows and that
// computes what Reel's does.
absl::StatusOr<TorchPlugin> OpenTorchPlugin(const kernels::PluginBuild& build,
                                            kernels::DeviceStream stream);

// For the test of a plug-in's variants on the device of `stream`.
absl::StatusOr<std::unique_ptr<kernels::CheckMemory>> MakeCheckMemory(kernels::DeviceStream stream);

}  // namespace reel::model
