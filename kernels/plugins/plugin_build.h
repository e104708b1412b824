// SPDX-License-Identifier: Apache-2.0
// Finds the build in a configured folder that this process may open, and checks that it fits and is
// unchanged. None of its code runs.
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

// Chooses the build for `host` and compares all its files with their digests. PERMISSION_DENIED:
// something leads out of the root. NOT_FOUND: a folder without builds. FAILED_PRECONDITION: none
// fits, with a reason for each. INVALID_ARGUMENT: bad metadata. DATA_LOSS: a file differs from
// metadata.json or the configuration.
absl::StatusOr<PluginBuild> FindPluginBuild(const PluginSource& source, const PluginHost& host);

}  // namespace reel::kernels
