// SPDX-License-Identifier: Apache-2.0
// Files that hold one part of an LTX-Video model: their tensors under the names of a diffusers
// folder, whichever names they have.
#pragma once

#include "absl/status/statusor.h"
#include "model/ltx/checkpoint_names.h"
#include "model/weights/weight_set.h"

namespace reel::model::ltx {

// FAILED_PRECONDITION: the file is of another model, or holds more than the part.
absl::StatusOr<WeightSet> TransformerPart(const WeightSet& file);
absl::StatusOr<WeightSet> VaePart(const WeightSet& file);

// Of an autoencoder's file under the original's names; of one under a folder's k095, the newest.
absl::StatusOr<CheckpointVersion> VersionOfVaePart(const WeightSet& file);

}  // namespace reel::model::ltx
