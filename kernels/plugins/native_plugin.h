// SPDX-License-Identifier: Apache-2.0
// Opens a native plug-in (plugin_v1.h): its table checked, its variants as variants of a catalog.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/plugins/plugin_build.h"

namespace reel::kernels {

// Loads the library; it stays loaded until the process ends, as its code may be running on a
// device. FAILED_PRECONDITION when it cannot be opened, with the linker's words, has no table or
// one of another version; INVALID_ARGUMENT for a table that is not what plugin_v1.h says.
absl::StatusOr<std::vector<std::shared_ptr<const HostedVariant>>> OpenNativePlugin(
    const PluginBuild& build);

// "mine", or "mine.fast" for a variant that has a name of its own.
std::string PluginVariantName(const std::string& plugin, const std::string& variant);

}  // namespace reel::kernels
