// SPDX-License-Identifier: Apache-2.0
// Text encoders in GGUF: their tensors under the names that transformers 5.23.0 gives them.
#pragma once

#include "absl/status/statusor.h"
#include "model/text/gemma_config.h"
#include "model/weights/weight_set.h"

namespace reel::model {

// Whether the names are those of GGUF's text models.
bool HasGgufNames(const WeightSet& file);

// As T5EncoderModel calls them; the decoder's are left out. FAILED_PRECONDITION: another model.
absl::StatusOr<WeightSet> T5OfGguf(const WeightSet& file);

// The tensors under the names of Gemma3TextModel, or of Gemma 4's, by `config`. Norms' weights are
// the factors themselves; Gemma 3's own files store them less one. FAILED_PRECONDITION: another
// model, or sizes in the metadata that differ from `config`.
absl::StatusOr<WeightSet> GemmaOfGguf(const WeightSet& file, const GemmaConfig& config);

}  // namespace reel::model
