// SPDX-License-Identifier: Apache-2.0
// From a name and a path to a loaded model. The families are one list, in model/CMakeLists.txt.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/load_options.h"
#include "model/pipeline.h"

namespace reel::model {

// Loads a model for the device of `stream`: the test card where there is no path, else by the first
// family that recognises what lies there. Blocks for as long as that takes. FAILED_PRECONDITION
// says what the path holds instead; the families document their own errors.
absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(const LoadOptions& options,
                                                       kernels::DeviceStream stream);

// The variants of operators that the families of this build bring along, beside the built-in ones.
void AddModelVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
