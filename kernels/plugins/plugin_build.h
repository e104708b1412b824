// SPDX-License-Identifier: Apache-2.0
// A folder of the configuration as a build that this process may open: found, fitting, unchanged.
// Nothing of it has been run yet.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/plugin_source.h"
#include "kernels/plugins/build_variant.h"
#include "kernels/plugins/plugin_metadata.h"

namespace reel::kernels {

struct PluginBuild {
  PluginSource source;
  BuildVariant variant;
  PluginMetadata metadata;
  std::string library;  // path of the one shared library to open
};

// Chooses the build for `host` and compares every file of it with its digest. PERMISSION_DENIED for
// what leads out of the root, NOT_FOUND for a folder without builds, FAILED_PRECONDITION with a
// reason for each build when none fits, INVALID_ARGUMENT for bad metadata, DATA_LOSS for a file
// that is not what metadata.json or the configuration says.
absl::StatusOr<PluginBuild> FindPluginBuild(const PluginSource& source, const PluginHost& host);

}  // namespace reel::kernels
