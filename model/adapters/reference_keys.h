// SPDX-License-Identifier: Apache-2.0
// The mark of an adapter that wants a reference clip (IC-LoRA), in its file's metadata.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "model/request_adapter.h"
#include "model/weights/weight_file.h"

namespace reel::model {

// Nullopt: the file has neither `reference_downscale_factor` nor `reference_temporal_scale_factor`.
// One that is left out is 1. FAILED_PRECONDITION with the file and the key: a value is not decimal
// text of 1 to kMostReferenceScale.
absl::StatusOr<std::optional<ReferenceScale>> ReadReferenceScale(const WeightFile& file);

}  // namespace reel::model
