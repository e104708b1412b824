// SPDX-License-Identifier: Apache-2.0
// Tests a plug-in's variant before it is used: compares small calls of its operator, in all types
// and layouts, with the variant `loops`. So a wrong layout of parameters or a wrong result shows
// here, not in a video.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "kernels/base/dtype.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/plugins/check_memory.h"

namespace reel::kernels {

struct PluginVerdict {
  DtypeMask dtypes = 0;  // types in which at least one call ran, and all that ran were right
  absl::Status failure;  // the first wrong result
};

// Runs the variant in each of its types. Results may differ by two units in the last place, and in
// fp32 by as much as the order of a sum changes them.
PluginVerdict CheckPluginVariant(const HostedVariant& variant, CheckMemory& memory,
                                 DeviceStream stream);

// The operators that plug-ins can bring variants for.
bool TakesPlugins(const std::string& op);
std::string OpsThatTakePlugins();

}  // namespace reel::kernels
