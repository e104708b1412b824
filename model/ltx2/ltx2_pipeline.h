// SPDX-License-Identifier: Apache-2.0
// LTX-2 as the engine sees it. Torch-free.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "model/load_options.h"
#include "model/pipeline.h"

namespace reel::model::ltx2 {

// NOT_FOUND and FAILED_PRECONDITION say which file and what is wrong with it.
absl::StatusOr<std::unique_ptr<Pipeline>> LoadLtx2Pipeline(const LoadOptions& options,
                                                           kernels::DeviceStream stream);

// The card that it would have then; a refusal is that of the load. The values of the weights are
// not read, but for a manifest.
absl::StatusOr<ModelCard> CheckLtx2Model(const LoadOptions& options, kernels::DeviceStream stream);

}  // namespace reel::model::ltx2
