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

// As Gemma3TextModel calls them. Weights of norms hold one more than that model's, which adds it
// itself. FAILED_PRECONDITION: another model, or its metadata has other sizes than `config`.
absl::StatusOr<WeightSet> GemmaOfGguf(const WeightSet& file, const GemmaConfig& config);

}  // namespace reel::model
