// SPDX-License-Identifier: Apache-2.0
// The configurations of a single-file checkpoint, derived from its tensors: old files have none in
// their metadata, and newer ones use another format.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/ltx/checkpoint_names.h"
#include "model/ltx/transformer_config.h"
#include "model/sampler/schedule.h"
#include "model/vae/vae_config.h"
#include "model/weights/weight_set.h"

namespace reel::model::ltx {

// `part` is that of TransformerOf. How the width is split into heads is not in the tensors: the
// file's own word for it (`num_attention_heads` in its metadata) counts, else the release's.
// FAILED_PRECONDITION with file and tensor: one is missing or has an unexpected shape, or a
// release lacks some of its tensors.
absl::StatusOr<TransformerConfig> TransformerConfigOf(const WeightSet& part,
                                                      CheckpointVersion version);

// `part` is that of VaeOf.
absl::StatusOr<VaeConfig> VaeConfigOf(const WeightSet& part, CheckpointVersion version);

// The scheduler's configuration of a release, as its folder on the hub has it.
SchedulerConfig SchedulerConfigOf(CheckpointVersion version);

}  // namespace reel::model::ltx
