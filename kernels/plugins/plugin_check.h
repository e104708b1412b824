// SPDX-License-Identifier: Apache-2.0
// The test that a plug-in's variant passes before it is used: small calls of its operator, of all
// types and layouts, beside the variant `loops`. What was built for another layout of the
// parameters, or computes something else, shows here and not in a video.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "kernels/base/dtype.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/hosted_variant.h"
#include "kernels/plugins/check_memory.h"

namespace reel::kernels {

struct PluginVerdict {
  DtypeMask dtypes = 0;  // in which at least one call ran, and all that ran were right
  absl::Status failure;  // of the first that was not
};

// Runs the variant in each of its types. Results may be two units in the last place off, and in
// fp32 as far as sums in another order are.
PluginVerdict CheckPluginVariant(const HostedVariant& variant, CheckMemory& memory,
                                 DeviceStream stream);

// The operators whose variants a plug-in can bring.
bool TakesPlugins(const std::string& op);
std::string OpsThatTakePlugins();

}  // namespace reel::kernels
