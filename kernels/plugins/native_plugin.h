// SPDX-License-Identifier: Apache-2.0
// Opens a native plug-in (plugin_v1.h): checks its table and turns its variants into a catalog's.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/plugins/plugin_build.h"

namespace reel::kernels {

// Loads the library, which stays loaded until the process ends, as its code may be running on a
// device. FAILED_PRECONDITION if it cannot be opened, with the linker's message, or has no table or
// one of another version; INVALID_ARGUMENT for a table that breaks plugin_v1.h.
absl::StatusOr<std::vector<std::shared_ptr<const HostedVariant>>> OpenNativePlugin(
    const PluginBuild& build);

// "mine", or "mine.fast" for a variant with a name of its own.
std::string PluginVariantName(const std::string& plugin, const std::string& variant);

}  // namespace reel::kernels
