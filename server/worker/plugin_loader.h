// SPDX-License-Identifier: Apache-2.0
// Opens the configured plug-ins into a worker's catalog. One that cannot be opened is skipped.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/plugin_source.h"

namespace reel::worker {

// Confined to the main thread. The catalog must outlive it.
class PluginLoader {
 public:
  // Tries to open a plug-in in a process that may crash; OK: this process may open it too.
  using Probe = absl::AnyInvocable<absl::Status(const kernels::PluginSource&)>;

  // Without a probe plug-ins are opened at once.
  PluginLoader(kernels::KernelCatalog& catalog, kernels::DeviceStream stream, Probe probe)
      : catalog_(catalog), stream_(stream), probe_(std::move(probe)) {}

  // Adds all variants of the plug-in, or none. The statuses are those of FindPluginBuild,
  // OpenNativePlugin, OpenTorchPlugin and KernelCatalog::AddPlugin; ALREADY_EXISTS for a build that
  // is open; FAILED_PRECONDITION for a variant that fails its test.
  absl::StatusOr<kernels::PluginListing> Open(const kernels::PluginSource& source);

  // Adds all plug-ins in their order, and logs each.
  std::vector<kernels::PluginListing> OpenAll(const std::vector<kernels::PluginSource>& sources);

 private:
  kernels::KernelCatalog& catalog_;
  const kernels::DeviceStream stream_;
  Probe probe_;
  std::set<std::string> ids_;
};

}  // namespace reel::worker
